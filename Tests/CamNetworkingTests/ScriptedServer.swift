import Glibc
import CamPlatform

@testable import CamNetworking

/// An RTSP server on this machine that says what a test wants: one answer for each request, and then it closes the
/// connection.
final class ScriptedServer: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held, or set before a connection comes.
    let address: SocketAddress
    /// How much it sends at a time.
    var pieceLength = Int.max
    private let listener: Listener
    private let monitor = Monitor()
    private var heard: [String] = []

    init() throws(NetworkError) {
        listener = try Listener(SocketAddress(port: 0))
        guard let local = SocketAddress(listener.address.description) else {
            throw NetworkError(.noResources(errno: 0), address: "")
        }
        address = local
    }

    /// The requests of the latest connection.
    var requests: [String] { monitor.withLock { heard } }

    /// Answers the next connection's requests.
    /// - Parameters:
    ///   - answers: status lines and headers, without protocol and CSeq; a body may follow an empty line.
    ///   - noise: sent before each of them.
    func answers(_ answers: [String], precededBy noise: String = "") {
        serve { [self] socket in
            for answer in answers {
                guard let request = read(socket) else { return }
                let number =
                    request.split(separator: "\r\n").first { $0.hasPrefix("CSeq: ") }.map(String.init) ?? ""
                let (head, body) =
                    answer.firstRange(of: "\r\n\r\n").map {
                        (String(answer[..<$0.lowerBound]) + "\r\n", String(answer[$0.upperBound...]))
                    } ?? (answer.hasSuffix("\r\n") ? answer : answer + "\r\n", "")
                let status = head.split(separator: "\r\n", maxSplits: 1, omittingEmptySubsequences: false)
                write("\(noise)RTSP/1.0 \(status[0])\r\n\(number)\r\n\(status[1])\r\n\(body)", socket)
            }
        }
    }

    /// Says the same to any request on the next connection, and then waits for its end.
    func says(_ text: String) {
        serve { [self] socket in
            guard read(socket) != nil else { return }
            write(text, socket)
            _ = read(socket)
        }
    }

    /// Calls `body` once a request has come, instead of answering.
    func whenAsked(_ body: @escaping @Sendable () -> Void) { asked = body }
    private var asked: (@Sendable () -> Void)?

    private func serve(_ body: @escaping @Sendable (borrowing Socket) -> Void) {
        monitor.withLock { heard = [] }
        let thread = WorkerThread { [self] in
            while true {
                _ = WaitResult.wait(for: listener.descriptor, unless: nil)
                guard case .connection(let socket, _) = listener.accept() else { continue }
                return body(socket)
            }
        }
        thread?.detach()
    }

    /// Nil if the connection has ended.
    private func read(_ socket: borrowing Socket) -> String? {
        var (bytes, room) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while socket.waitUntilReadable() {
            guard case .received(let count) = room.withUnsafeMutableBytes({ socket.receive(into: $0) }) else {
                return nil
            }
            bytes += room[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
            let length =
                text.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                .flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
            guard text[end.upperBound...].utf8.count >= length else { continue }
            monitor.withLock { heard.append(text) }
            asked?()
            return text
        }
        return nil
    }

    private func write(_ text: String, _ socket: borrowing Socket) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceLength))
            switch piece.withUnsafeBytes({ socket.send($0) }) {
            case .sent(let count): rest = rest.dropFirst(count)
            case .broken: return
            case .full, .exhausted: _ = WaitResult.wait(for: socket.descriptor, POLLOUT, unless: nil)
            }
        }
    }
}
