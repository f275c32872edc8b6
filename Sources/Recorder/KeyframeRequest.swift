import Synchronization

/// Somebody's wish, from any thread, that the next frame be a keyframe, in addition to the regular ones.
public final class KeyframeRequest: Sendable {
    private let isMade = Atomic<Bool>(false)

    /// No wish yet.
    public init() {}

    /// Wishes. Several wishes before a frame are one.
    public func make() { isMade.store(true, ordering: .relaxed) }

    /// Whether there is one, which is then fulfilled.
    func take() -> Bool { isMade.exchange(false, ordering: .relaxed) }
}
