import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import Containers

/// A complete answer to a request.
struct Response {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    /// Connections with the same body share its storage.
    let body: ByteBuffer

    /// - Parameter authority: the checked authority to which the browser connected; nil for a refusal.
    init(
        _ status: HTTPResponseStatus = .ok, type: String, body: ByteBuffer, authority: String?,
        extra: [String: String] = [:]
    ) {
        var headers = Self.headers(type: type, authority: authority)
        headers.add(name: "Content-Length", value: "\(body.readableBytes)")
        for (name, value) in extra { headers.add(name: name, value: value) }
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Creates a response from bytes.
    init(
        _ status: HTTPResponseStatus = .ok, type: String, body: [UInt8], authority: String?,
        extra: [String: String] = [:]
    ) {
        self.init(status, type: type, body: ByteBuffer(bytes: body), authority: authority, extra: extra)
    }

    /// Creates the response with the page, or that which asks for user and password. Only these can be embedded.
    init(
        _ status: HTTPResponseStatus = .ok, page: [UInt8], at placement: Placement, authority: String,
        extra: [String: String] = [:]
    ) {
        let type = "text/html; charset=utf-8"
        var headers = Self.headers(type: type, authority: authority, placement.frameAncestors)
        headers.add(name: "Content-Length", value: "\(page.count)")
        for (name, value) in extra { headers.add(name: name, value: value) }
        (self.status, self.headers, body) = (status, headers, ByteBuffer(bytes: page))
    }

    /// The headers of every response.
    /// - Parameter frameAncestors: the directive about pages that may embed the response.
    static func headers(
        type: String, authority: String?, _ frameAncestors: String = Placement().frameAncestors
    ) -> HTTPHeaders {
        HTTPHeaders([
            ("Content-Type", type),
            // The page belongs to the program's version.
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", contentPolicy(for: authority, frameAncestors)),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            // With a stricter policy, browsers send "null" as the origin of a form.
            ("Referrer-Policy", "same-origin"),
            ("X-Content-Type-Options", "nosniff"),
        ])
    }

    /// - Parameter rights: of the client; without a right to details, it gets the refusal in words.
    init(_ refusal: Refusal, for rights: Rights = .nothing) {
        let reason = rights.seesDetails ? refusal.reason : refusal.words ?? refusal.reason
        self.init(
            refusal.status, type: "text/plain; charset=utf-8", body: Array("\(reason)\n".utf8),
            authority: nil, extra: refusal.headers)
    }

    /// Allows only the files and WebSockets of camweb, and pictures made by scripts. Not every browser counts
    /// WebSockets as `'self'`.
    private static func contentPolicy(for authority: String?, _ frameAncestors: String) -> String {
        let nothing = "default-src 'none'; base-uri 'none'; \(frameAncestors); form-action "
        guard let authority else { return nothing + "'none'" }
        return nothing
            + "'self'; script-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; media-src blob:; "
            + "connect-src 'self' ws://\(authority) wss://\(authority)"
    }
}

// MARK: JSON

/// Encodes the data for the page.
enum JSON {
    /// Returns the text of a value without floating-point numbers; nothing else can fail to encode.
    static func text(of value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "null" }
        return String(decoding: data, as: UTF8.self)
    }
}

// MARK: Refusals

/// The reason a request is not served: the status, and one line with the next step.
struct Refusal: Error, Hashable {
    let status: HTTPResponseStatus
    let reason: String
    /// Headers that the status requires.
    var headers: [String: String] = [:]
    /// What somebody is told who does not see details such as addresses and paths; nil if the reason has none.
    var words: String?

    static let noHost = Refusal(status: .badRequest, reason: "the request names no host, or several")
    static let otherHost = Refusal(
        status: .forbidden,
        reason: "camweb does not answer under this host name; open http://127.0.0.1 with its port, or start "
            + "camweb with --host NAME")
    static let otherOrigin = Refusal(
        status: .forbidden, reason: "another site's page asks; open camweb's own page")
    static let otherMethod = Refusal(
        status: .methodNotAllowed, reason: "camweb only answers GET and HEAD here",
        headers: ["Allow": "GET, HEAD"]
    )
    static let unwantedBody = Refusal(
        status: .payloadTooLarge, reason: "camweb takes no request bodies, and no form this long; send less")
    static let notAForm = Refusal(
        status: .badRequest, reason: "not a form of camweb's pages; open the page in a browser")
    static let notLoggedIn = Refusal(
        status: .unauthorized, reason: "not logged in, or no longer; log in on camweb's page",
        headers: ["WWW-Authenticate": "Cookie realm=\"camweb\""])
    /// For programs other than browsers, which have no login page.
    static let needsPassword = Refusal(
        status: .unauthorized, reason: "user and password are needed, as in http://USER:PASSWORD@HOST",
        headers: ["WWW-Authenticate": "Basic realm=\"camweb\", charset=\"UTF-8\""])
    static let unknownPath = Refusal(
        status: .notFound, reason: "there is nothing here; open camweb's page for the cameras")
    static let ending = Refusal(
        status: .serviceUnavailable, reason: "camweb ends; try again in a moment",
        headers: ["Retry-After": "2"])
    /// The stream of the camera is not available, with the reason in words.
    static func unavailable(_ reason: String) -> Refusal {
        Refusal(
            status: .serviceUnavailable, reason: reason, headers: ["Retry-After": "2"],
            words: "camera offline; try again later")
    }

    static let needsWebSocket = Refusal(
        status: .upgradeRequired,
        reason:
            "this is a WebSocket; open camweb's page, or add .mp4 or .ts for a player, or .jpg for a picture",
        headers: ["Upgrade": "websocket"])
}

extension Refusal {
    /// The refusal for a program whose user or password is not accepted.
    init(_ problem: LoginProblem) {
        self.init(
            status: problem == .wrong ? .unauthorized : problem.status, reason: problem.text,
            headers: problem == .wrong ? Self.needsPassword.headers : problem.headers)
    }
}

// MARK: Refusals of recordings

extension Refusal {
    static let noRecordings = Refusal(
        status: .notFound,
        reason:
            "no folder of recordings is known for this camera; start camweb with --recordings NAME=FOLDER",
        words: "this camera has no recordings")
    static let noSegment = Refusal(
        status: .notFound, reason: "this recording is gone; load the list of recordings again")
    static let nothingRecorded = Refusal(
        status: .notFound, reason: "nothing was recorded then; choose another time")
    static let busy = Refusal(
        status: .serviceUnavailable,
        reason: "too many responses to this address already; try again in a moment",
        headers: ["Retry-After": "2"])
    static let tooManyStreams = Refusal(
        status: .serviceUnavailable,
        reason: "too many live pictures and recordings to this address already; close some of its pages",
        headers: ["Retry-After": "10"])
    static let busyCamera = Refusal(
        status: .serviceUnavailable,
        reason:
            "too many responses of this camera to this address already, or its disk does not answer; try again in "
            + "a moment",
        headers: ["Retry-After": "2"])

    static let notListed = Refusal(
        status: .serviceUnavailable,
        reason: "the recordings of this time are still being read; try again in a moment",
        headers: ["Retry-After": "10"])
    static let tooMany = Refusal(
        status: .unprocessableEntity, reason: "too many recordings for one file; choose a shorter time")

    /// The file has none of the requested bytes.
    static func noSuchRange(of count: Int) -> Refusal {
        Refusal(
            status: .rangeNotSatisfiable, reason: "the file has \(count) bytes",
            headers: ["Content-Range": "bytes */\(count)"])
    }

    static func noRoom(for count: Int, in folder: String) -> Refusal {
        Refusal(
            status: .insufficientStorage,
            reason: "\(folder): too little free space for \(count >> 20) MB; choose a shorter time",
            words: "too little free space for \(count >> 20) MB; choose a shorter time")
    }

    static func noScratch(_ folder: String) -> Refusal {
        Refusal(
            status: .insufficientStorage,
            reason: "\(folder): cannot be used for downloads; start camweb with another --scratch",
            words: "no downloads at the moment; ask an administrator")
    }

    static func unreadable(_ name: String, _ reason: String) -> Refusal {
        Refusal(status: .unprocessableEntity, reason: "\(name): \(reason)", words: unreadableWords)
    }

    static func unreadable(_ error: RemuxError) -> Refusal {
        Refusal(status: .unprocessableEntity, reason: "\(error)", words: unreadableWords)
    }

    private static let unreadableWords = "this recording cannot be read; ask an administrator"

    /// Copying failed, in reading or in writing.
    static func notCopied(_ error: RemuxError) -> Refusal {
        switch error {
        case .output:
            Refusal(
                status: .insufficientStorage, reason: "\(error)",
                words: "the download cannot be made; ask an administrator")
        default: unreadable(error)
        }
    }
}
