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
        /// Pictures that the open encoder has read there.
        var sessionPictures = 0
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
    /// - Returns: why its GPU is not to read the camera's memory; nil if it may.
    func begin(on node: String) -> String? {
        state.withLock { state in
            state.outcome = state.outcome ?? SharingOutcome()
            (state.node, state.sessionPictures) = (node, 0)
            return state.obstacles[node]
        }
    }

    /// Whether a GPU is not to read the camera's memory any more.
    func hasGivenUp(_ node: String) -> Bool { state.withLock { $0.obstacles[node] != nil } }

    /// Counts a picture that the GPU reads where it is.
    func countShared(_ memory: SharingOutcome.Memory) {
        state.withLock { state in
            state.outcome?.memory = memory
            state.outcome?.sharedPictures += 1
            state.sessionPictures += 1
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
    func giveUp(_ node: String, _ reason: String) {
        state.withLock { state in
            state.obstacles[node] = reason
            state.outcome?.reason = reason
        }
    }

    /// Notes that the open encoder failed. The next one is to be opened without the camera's memory, if it read that: it may
    /// be what failed.
    /// - Returns: whether that was so.
    func blame() -> Bool {
        state.withLock { state in
            guard let node = state.node, state.sessionPictures > 0 else { return false }
            let reason = "the encoder failed while it read the camera's memory"
            state.obstacles[node] = reason
            state.outcome?.reason = reason
            state.sessionPictures = 0
            return true
        }
    }
}
