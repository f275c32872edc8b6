import NIOHTTP1

/// Makes the page that asks for user and password.
enum LoginPage {
    private static let placeholder = "<!--problem-->"

    /// Returns the page, with the reason if a login was refused.
    static func response(
        _ problem: LoginProblem? = nil, at placement: Placement, authority: String
    ) -> Response {
        let note = problem.map { "<p class=\"problem\" role=\"alert\">\($0.sentence)</p>" } ?? ""
        let page = String(decoding: PackageResources.login_html, as: UTF8.self)
            .replacing(placeholder, with: note)
        return Response(
            problem?.status ?? .ok, page: Array(page.utf8), at: placement, authority: authority,
            extra: problem?.headers ?? [:])
    }
}

extension LoginProblem {
    fileprivate var sentence: String { text.prefix(1).uppercased() + text.dropFirst() + "." }
}

// MARK: Refused logins

/// The reason a login is refused.
enum LoginProblem {
    case wrong, tooMany, busy

    /// The problem and the next step, as a sentence without capital and full stop.
    var text: String {
        switch self {
        case .wrong: "wrong user or password; try again"
        case .tooMany: "too many tries; wait half a minute, then try again"
        case .busy: "too many people log in at this moment; try again"
        }
    }

    /// The status of the login page that shows the problem.
    var status: HTTPResponseStatus {
        switch self {
        case .wrong: .forbidden
        case .tooMany: .tooManyRequests
        case .busy: .serviceUnavailable
        }
    }

    /// The `Retry-After` header, if waiting helps.
    var headers: [String: String] { pause.map { ["Retry-After": "\($0)"] } ?? [:] }

    /// When to try again, in seconds; nil if waiting does not help.
    private var pause: Int64? {
        switch self {
        case .tooMany: AttemptLimit.pause.nanoseconds / 1_000_000_000
        case .busy: 2
        case .wrong: nil
        }
    }
}
