import CamPlatform
import Glibc

/// Exchanges requests and responses with an RTSP server (RFC 2326). Used by one thread.
///
/// The server is not trusted: the sizes of a head and a body are bounded, and so is the time for all
/// requests.
struct RTSPConnection: ~Copyable {
    private let socket: Socket
    /// The TLS relay; nil if the connection is not encrypted.
    let relay: Relay?
    private let address: RTSPAddress
    private let password: String?
    private let cancellation: CancellationFlag
    private let timeout: Duration
    private let deadline: Instant
    private var sequence = 0
    /// Nil until the server asks for the password.
    private var authorization: RTSPAuthorization?
    /// Bytes received but not read yet.
    private var pending: [UInt8] = []

    /// The beginning of every response.
    private static let beginning = Array("RTSP/".utf8)
    private static let longestHead = 16 << 10
    private static let longestBody = 64 << 10

    /// Connects.
    /// - Parameters:
    ///   - password: the password for the user in the address; nil to use none.
    ///   - trust: the certificates that verify the server of an encrypted connection; nil for none.
    ///   - timeout: for connecting, for encryption and for all requests, each.
    ///   - patience: the time after which a server that reads nothing counts as gone.
    static func connect(
        to address: RTSPAddress, password: String?, trust: TLSTrust?, timeout: Duration, patience: Duration,
        cancellation: CancellationFlag
    ) throws(NetworkError) -> RTSPConnection {
        var socket = try Socket.connect(to: address.server, timeout: timeout, cancellation: cancellation)
        var relay: Relay?
        if address.isEncrypted {
            guard let trust else { throw NetworkError(.untrusted(.unknownIssuer), address: "\(address)") }
            let session = try TLSSession(
                over: socket, host: address.server.host, trust: trust, timeout: timeout,
                cancellation: cancellation,
                address: "\(address)")
            let started = try session.relay(patience: patience, cancellation: cancellation)
            relay = started.relay
            socket = started.takeSocket()
        }
        return RTSPConnection(
            socket: socket, relay: relay, address: address, password: password, cancellation: cancellation,
            timeout: timeout, deadline: .now + timeout)
    }

    /// Ends the exchange, and returns the socket.
    consuming func finish() -> Socket { socket }

    /// Returns the bytes of the next request, without sending them.
    /// - Parameter headers: without `CSeq`, `Authorization` and `Content-Length`.
    mutating func makeRequest(
        _ method: String, _ url: String, _ headers: [(name: String, value: String)], body: String = ""
    ) -> [UInt8] {
        sequence += 1
        let nonce = String(UInt64.random(in: .min ... .max), radix: 16)
        let proof = authorization?.header(method: method, url: url, clientNonce: nonce)
        let all = headers + (proof.map { [("Authorization", $0)] } ?? [])
        return RTSPRequest(method: method, url: url, sequence: sequence, headers: all, body: body).bytes
    }

    /// Sends a request, and repeats it with the password if the server asks for one.
    /// - Returns: the response, with a status of success.
    mutating func ask(
        _ method: String, _ url: String, _ headers: [(name: String, value: String)], body: String = ""
    ) throws(NetworkError) -> RTSPResponse {
        var response = try exchange(makeRequest(method, url, headers, body: body))
        if response.status == 401 {
            try readChallenge(response)
            response = try exchange(makeRequest(method, url, headers, body: body))
        }
        guard response.status != 401 else { throw NetworkError(.wrongPassword, address: "\(address)") }
        guard (200..<300).contains(response.status) else {
            throw NetworkError(
                .refused(status: response.status, reason: harmless(response.reason)), address: "\(address)")
        }
        return response
    }

    /// Returns the words of the server, or nothing if they contain a secret: some servers quote the request.
    private func harmless(_ words: String) -> String {
        let query = address.url.split(separator: "?", maxSplits: 1).dropFirst().joined()
        let account = address.user.map { Array("\($0):\(password ?? "")".utf8).base64 }
        let secrets = [password, address.password, query, account].compactMap { $0 }.filter { !$0.isEmpty }
        return secrets.contains(where: words.contains) ? "" : words
    }

    private mutating func readChallenge(_ response: RTSPResponse) throws(NetworkError) {
        let challenges = response.all("www-authenticate")
        // The nonce may have expired.
        guard authorization == nil || RTSPAuthorization.isStale(challenges)
        else { throw NetworkError(.wrongPassword, address: "\(address)") }
        guard let user = address.user, let password else {
            throw NetworkError(.needsPassword, address: "\(address)")
        }
        authorization = RTSPAuthorization(challenges: challenges, user: user, password: password)
        guard authorization != nil else {
            throw NetworkError(
                .refused(status: response.status, reason: "an unknown kind of password"),
                address: "\(address)")
        }
    }

    /// Sends a request and waits for its response.
    private mutating func exchange(_ request: [UInt8]) throws(NetworkError) -> RTSPResponse {
        try send(request)
        while true {
            guard let response = try receive() else { continue }
            // Skips responses to other requests, and informational ones that announce another response.
            let isOurs = response["cseq"].map { Int($0) == sequence } ?? true
            if isOurs, response.status >= 200 { return response }
        }
    }

    private func send(_ bytes: [UInt8]) throws(NetworkError) {
        var sent = 0
        while sent < bytes.count {
            let sending = bytes.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch sending {
            case .sent(let count): sent += count
            case .full, .exhausted: try wait(for: POLLOUT)
            case .broken(let code): throw failure(code)
            }
        }
    }

    /// - Returns: nil for a request by the server, which need not be answered before the stream begins.
    private mutating func receive() throws(NetworkError) -> RTSPResponse? {
        try skipPackets()
        let head = RTSPHead(try receiveHead())
        let response = RTSPResponse(head)
        guard response != nil || head.isRequest, let length = head.bodyLength, length <= Self.longestBody
        else { throw NetworkError(.notRTSP, address: "\(address)") }
        while pending.count < length { try receiveMore() }
        pending.removeFirst(length)
        return response
    }

    /// Discards packets that a server sends before it answers (RFC 2326, 10.12).
    private mutating func skipPackets() throws(NetworkError) {
        while true {
            while pending.isEmpty { try receiveMore() }
            guard pending[0] == UInt8(ascii: "$") else { return }
            while pending.count < 4 { try receiveMore() }
            let length = 4 + (Int(pending[2]) << 8 | Int(pending[3]))
            while pending.count < length { try receiveMore() }
            pending.removeFirst(length)
        }
    }

    /// Returns the lines up to the first empty one.
    private mutating func receiveHead() throws(NetworkError) -> [UInt8] {
        var searched = 0
        while true {
            if let end = Self.endOfHead(in: pending, from: searched) {
                let head = Array(pending[..<end.lowerBound])
                pending.removeFirst(end.upperBound)
                return head
            }
            searched = max(0, pending.count - 3)
            try receiveMore()
            guard pending.count <= Self.longestHead else {
                throw NetworkError(.notRTSP, address: "\(address)")
            }
        }
    }

    /// Finds the empty line. Some servers end lines without a carriage return.
    private static func endOfHead(in bytes: [UInt8], from start: Int) -> Range<Int>? {
        for index in start..<bytes.count where bytes[index] == UInt8(ascii: "\n") {
            if bytes[(index + 1)...].starts(with: [13, 10]) { return index..<index + 3 }
            if bytes[(index + 1)...].first == 10 { return index..<index + 2 }
        }
        return nil
    }

    private mutating func receiveMore() throws(NetworkError) {
        var room = [UInt8](repeating: 0, count: 4096)
        while true {
            // Checked also if the socket never runs empty.
            guard Instant.now < deadline else { throw timeoutError }
            guard !cancellation.isRaised else { throw NetworkError(.interrupted, address: "\(address)") }
            switch room.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            case .received(let count):
                pending += room.prefix(count)
                return
            case .nothing: try wait(for: POLLIN)
            case .ended:
                if case .broken(let code) = relay?.failure { throw failure(code) }
                throw NetworkError(speaksAnotherProtocol ? .notRTSP : .closedByServer, address: "\(address)")
            case .broken(let code): throw failure(code)
            }
        }
    }

    private func wait(for events: Int32) throws(NetworkError) {
        switch cancellation.wait(for: socket.descriptor, events, until: deadline) {
        case .ready, .otherReady: return
        case .interrupted: throw NetworkError(.interrupted, address: "\(address)")
        case .due: throw timeoutError
        }
    }

    /// Whether the bytes from the server are not the beginning of a response.
    private var speaksAnotherProtocol: Bool {
        !pending.isEmpty && !pending.starts(with: Self.beginning.prefix(pending.count))
    }

    private var timeoutError: NetworkError {
        NetworkError(speaksAnotherProtocol ? .notRTSP : .timedOut(after: timeout), address: "\(address)")
    }

    private func failure(_ code: Int32) -> NetworkError {
        let isClosed = code == ECONNRESET || code == EPIPE
        return NetworkError(isClosed ? .closedByServer : .notConnected(errno: code), address: "\(address)")
    }
}

// MARK: Requests

/// A request to an RTSP server (RFC 2326, 6).
struct RTSPRequest {
    let method: String
    let url: String
    let sequence: Int
    /// Without `CSeq` and `Content-Length`.
    let headers: [(name: String, value: String)]
    let body: String

    /// The bytes to send.
    var bytes: [UInt8] {
        var lines = ["\(method) \(url) RTSP/1.0", "CSeq: \(sequence)", "User-Agent: camrec"]
        lines += headers.map { "\($0.name): \($0.value)" }
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        return Array((lines + ["", body]).joined(separator: "\r\n").utf8)
    }
}

// MARK: Responses

/// The response of a server to a request (RFC 2326, 7).
struct RTSPResponse {
    let status: Int
    /// The server's words for the status.
    let reason: String
    private let head: RTSPHead

    /// Nil if the message is not a response.
    init?(_ head: RTSPHead) {
        let parts = head.firstLine.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("RTSP/1."), parts[1].count == 3,
            let status = Int(parts[1]), (100...599).contains(status)
        else { return nil }
        self.status = status
        reason = parts.count == 3 ? Self.printable(parts[2]) : ""
        self.head = head
    }

    /// The first header of a name in lower case.
    subscript(name: String) -> String? { head[name] }

    /// Every header of a name in lower case.
    func all(_ name: String) -> [String] { head.all(name) }

    /// A short line of plain text, for messages.
    private static func printable(_ text: Substring) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).filter { (" "..."~").contains($0) }))
    }
}

// MARK: Heads of messages

/// The part of an RTSP message before the body (RFC 2326, 4): the first line and the headers.
struct RTSPHead {
    /// The request line or status line.
    let firstLine: String
    /// Names in lower case, in the order of arrival.
    let headers: [(name: String, value: String)]

    /// - Parameter bytes: without the empty line at the end.
    init(_ bytes: some Sequence<UInt8>) {
        // Splits bytes, not characters: CR LF is a single character.
        var lines = Array(bytes).split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0.last == 13 ? $0.dropLast() : $0, as: UTF8.self) }[...]
        firstLine = lines.popFirst() ?? ""
        headers = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...]
            return (line[..<colon].lowercased(), Self.trimmed(value))
        }
    }

    /// Whether the message is a request.
    var isRequest: Bool { firstLine.count > 9 && firstLine.suffix(9).hasPrefix(" RTSP/1.") }

    /// The first header of a name in lower case.
    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Every header of a name in lower case.
    func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// The number of bytes in the body; nil if the header is malformed.
    var bodyLength: Int? {
        guard let text = self["content-length"] else { return 0 }
        return UInt32(text).map(Int.init)
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while text.last.map(isSpace) == true { text.removeLast() }
        return String(text)
    }
}
