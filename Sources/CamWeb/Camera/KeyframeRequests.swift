import NIOCore

/// Decides when to ask a recorder for a keyframe, for viewers that join a stream that runs already.
///
/// However many join, there is one request at a time, and at most one a second: a keyframe costs the recording bits. A
/// viewer that joins too soon after a request waits for the next one, unless a keyframe comes first.
struct KeyframeRequests: Sendable {
    /// What to do now.
    enum Step: Hashable {
        case nothing
        /// Look again then.
        case wait(until: NIODeadline)
        /// Ask, and call `noteAnswer` when that has ended.
        case ask
    }

    /// The forms in which somebody waits for a keyframe.
    private var waiting: Set<LiveForm> = []
    private var isAsking = false
    private var earliest = NIODeadline.uptimeNanoseconds(0)

    /// The shortest time between requests.
    static let pause = TimeAmount.seconds(1)

    /// Notes that a viewer joined.
    mutating func noteNewcomer(_ form: LiveForm) { waiting.insert(form) }

    /// Notes a keyframe, which all viewers of its form get.
    mutating func noteKeyframe(_ form: LiveForm) { waiting.remove(form) }

    /// Notes that the stream ended: the next one begins with a keyframe.
    mutating func noteEnd() { waiting.removeAll() }

    /// Notes that a request has ended.
    mutating func noteAnswer() { isAsking = false }

    /// Returns what to do now, and counts a request as begun.
    mutating func next(at now: NIODeadline) -> Step {
        guard !waiting.isEmpty, !isAsking else { return .nothing }
        guard now >= earliest else { return .wait(until: earliest) }
        // Its keyframe is for all who wait now. One that fails is not repeated.
        waiting.removeAll()
        (isAsking, earliest) = (true, now + Self.pause)
        return .ask
    }
}
