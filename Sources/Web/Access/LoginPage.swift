import NIOHTTP1

/// The page that asks for user and password.
enum LoginPage {
    /// Why it is shown again.
    enum Problem {
        case wrong, tooMany, busy

        var status: HTTPResponseStatus {
            switch self {
            case .wrong: .forbidden
            case .tooMany: .tooManyRequests
            case .busy: .serviceUnavailable
            }
        }

        fileprivate var text: String {
            switch self {
            case .wrong: "Wrong user or password; try again."
            case .tooMany: "Too many tries; wait half a minute, then try again."
            case .busy: "Too many people log in at this moment; try again."
            }
        }
    }

    private static let placeholder = "<!--problem-->"

    /// The response with the page.
    static func response(_ problem: Problem? = nil, authority: String) -> Response {
        let note = problem.map { "<p class=\"problem\" role=\"alert\">\($0.text)</p>" } ?? ""
        let page = String(decoding: PackageResources.login_html, as: UTF8.self)
            .replacing(placeholder, with: note)
        return Response(
            problem?.status ?? .ok, type: "text/html; charset=utf-8", body: Array(page.utf8),
            authority: authority,
            extra: problem.map(headers) ?? [:])
    }

    private static func headers(_ problem: Problem) -> [String: String] {
        switch problem {
        case .tooMany: ["Retry-After": "\(AttemptLimit.pause.nanoseconds / 1_000_000_000)"]
        case .busy: ["Retry-After": "2"]
        case .wrong: [:]
        }
    }
}
