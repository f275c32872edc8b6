import NIOHTTP1

/// Why user and password are not accepted, now or ever.
enum LoginProblem {
    case wrong, tooMany, busy

    /// What to do, as one sentence.
    var text: String {
        switch self {
        case .wrong: "Wrong user or password; try again."
        case .tooMany: "Too many tries; wait half a minute, then try again."
        case .busy: "Too many people log in at this moment; try again."
        }
    }

    /// When to try again, in seconds; nil if waiting does not help.
    var pause: Int64? {
        switch self {
        case .tooMany: AttemptLimit.pause.nanoseconds / 1_000_000_000
        case .busy: 2
        case .wrong: nil
        }
    }

    /// The `Retry-After` header, if waiting helps.
    var headers: [String: String] { pause.map { ["Retry-After": "\($0)"] } ?? [:] }
}
