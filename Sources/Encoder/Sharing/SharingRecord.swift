import Synchronization

/// What a recording has learned about GPUs that read the camera's memory, and which pictures they read.
///
/// Safe to use from any thread: one that hangs in a driver may come back when another has taken its place.
final class SharingRecord: Sendable {
    private let state = Mutex(State())

    private struct State {
        var outcome: SharingOutcome?
        /// By render node, why its GPU reads no more.
        var obstacles: [String: String] = [:]
        var node: String?
        /// How many encoders were opened so far, and whether the last one was to read a picture there.
        var session = 0
        var isUsed = false
        /// Why the camera uses its memory for itself.
        var refusal: String?
    }

    /// Nil as long as no GPU encodes.
    var outcome: SharingOutcome? { state.withLock { $0.outcome } }

    /// Why the camera uses its memory for itself, if it was to share it.
    var refusal: String? { state.withLock { $0.refusal } }

    /// Notes that the camera is to use its memory for itself.
    func refuse(_ reason: String) { state.withLock { $0.refusal = reason } }

    /// Notes that an encoder is opened on a render node.
    /// - Returns: the encoder's number, and why its GPU is not to read the camera's memory; nil if it may.
    func begin(on node: String) -> (session: Int, obstacle: String?) {
        state.withLock { state in
            state.outcome = state.outcome ?? SharingOutcome()
            (state.node, state.isUsed) = (node, false)
            state.session += 1
            return (state.session, state.obstacles[node])
        }
    }

    /// Notes that an encoder is about to read a picture there: from now on that may be why it fails. An encoder that was
    /// replaced says nothing any more, though its thread may come back.
    /// - Returns: false if it was replaced.
    func noteUse(by session: Int) -> Bool {
        state.withLock { state in
            guard state.session == session else { return false }
            state.isUsed = true
            return true
        }
    }

    /// Whether a GPU is not to read the camera's memory any more.
    func hasGivenUp(_ node: String) -> Bool { obstacle(on: node) != nil }

    /// Why a GPU is not to read the camera's memory any more; nil if it may.
    func obstacle(on node: String) -> String? { state.withLock { $0.obstacles[node] } }

    /// Counts a picture that the GPU reads where it is.
    func countShared(_ memory: SharingOutcome.Memory) {
        state.withLock { state in
            state.outcome?.memory = memory
            state.outcome?.sharedPictures += 1
        }
    }

    /// Counts a picture that the processor copies.
    func countCopied(bytes: Int) {
        state.withLock { state in
            state.outcome?.copiedPictures += 1
            state.outcome?.bytesRead += bytes
        }
    }

    /// Counts what the processor read to compare it.
    func countCompared(bytes: Int) { state.withLock { $0.outcome?.bytesRead += bytes } }

    /// Notes why a picture is copied, or all of them.
    func note(_ reason: String) { state.withLock { $0.outcome?.reason = reason } }

    /// Notes that a GPU is not to read the camera's memory for the rest of the recording.
    /// - Parameter session: the encoder that has found out.
    func giveUp(_ node: String, _ reason: String, by session: Int) {
        state.withLock { state in
            guard state.session == session else { return }
            state.obstacles[node] = reason
            state.outcome?.reason = reason
        }
    }

    /// Notes that the open encoder failed. The next one is to be opened without the camera's memory, if it read that: it may
    /// be what failed.
    /// - Returns: its node, if that was so.
    func blame() -> String? {
        state.withLock { state in
            guard let node = state.node, state.isUsed else { return nil }
            let reason = "the encoder failed while it read the camera's memory"
            state.obstacles[node] = reason
            state.outcome?.reason = reason
            state.isUsed = false
            return node
        }
    }
}
