import NIOHTTP1

/// Why a request is not served: the status, and one line that says what to do.
struct Refusal: Error, Hashable {
    let status: HTTPResponseStatus
    let reason: String
    /// Headers that the status requires.
    var headers: [String: String] = [:]

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
        status: .badRequest, reason: "not a form of camweb's pages; open / in a browser")
    static let notLoggedIn = Refusal(
        status: .unauthorized, reason: "not logged in, or no longer; open /login in a browser",
        headers: ["WWW-Authenticate": "Cookie realm=\"camweb\""])
    /// For programs other than browsers, which have no login page.
    static let needsPassword = Refusal(
        status: .unauthorized, reason: "user and password are needed, as in http://USER:PASSWORD@HOST",
        headers: ["WWW-Authenticate": "Basic realm=\"camweb\", charset=\"UTF-8\""])
    static let unknownPath = Refusal(
        status: .notFound, reason: "there is nothing here; open / for the cameras")
    /// The camera's stream cannot be had now; in words, why.
    static func unavailable(_ reason: String) -> Refusal {
        Refusal(status: .serviceUnavailable, reason: reason, headers: ["Retry-After": "2"])
    }

    static let needsWebSocket = Refusal(
        status: .upgradeRequired,
        reason: "this is a WebSocket; open / for the cameras, or add .mp4 or .ts for a player",
        headers: ["Upgrade": "websocket"])
}

extension Refusal {
    /// For a program whose user or password is not accepted.
    init(_ problem: LoginProblem) {
        self.init(
            status: problem == .wrong ? .unauthorized : problem.status, reason: problem.text,
            headers: problem == .wrong ? Self.needsPassword.headers : problem.headers)
    }
}
