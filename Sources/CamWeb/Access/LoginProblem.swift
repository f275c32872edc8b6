import NIOHTTP1

/// The reason a login is refused.
enum LoginProblem {
    case wrong, tooMany, busy

    /// What is wrong, and what to do.
    var text: String {
        switch self {
        case .wrong: "wrong user or password; try again"
        case .tooMany: "too many tries; wait half a minute, then try again"
        case .busy: "too many people log in at this moment; try again"
        }
    }

    /// The status of the page that says so.
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
