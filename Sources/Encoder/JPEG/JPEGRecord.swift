import Synchronization

/// What a recording has learned about GPUs that decode Motion JPEG, and what they decoded: of all its encoders, one after
/// another.
///
/// Safe to use from any thread: one that hangs in a driver may come back when another has taken its place.
final class JPEGRecord: Sendable {
    private let state = Mutex(State())

    private struct State {
        var outcome: JPEGOutcome?
        /// What was compared, and was right.
        var trusted: Set<Kind> = []
        /// By render node, why its GPU decodes no more.
        var obstacles: [String: String] = [:]
        var node: String?
        /// Pictures that the GPU has decoded for the open encoder.
        var sessionPictures = 0
    }

    private struct Kind: Hashable {
        let node: String
        let sampling: BaselineJPEG.Sampling
    }

    /// Nil as long as there was no Motion JPEG for a GPU's encoder.
    var outcome: JPEGOutcome? { state.withLock { $0.outcome } }

    /// Notes that an encoder is opened on a render node.
    /// - Returns: why its GPU is not to decode; nil if it may.
    func begin(on node: String) -> String? {
        state.withLock { state in
            state.outcome = state.outcome ?? JPEGOutcome()
            (state.node, state.sessionPictures) = (node, 0)
            return state.obstacles[node]
        }
    }

    /// Whether a GPU is not to decode any more.
    func hasGivenUp(_ node: String) -> Bool { state.withLock { $0.obstacles[node] != nil } }

    /// Counts a picture.
    func count(isGPU: Bool) {
        state.withLock { state in
            if isGPU {
                state.outcome?.gpuPictures += 1
                state.sessionPictures += 1
            } else {
                state.outcome?.cpuPictures += 1
            }
        }
    }

    /// Notes why the processor decodes a picture, or all of them.
    func note(_ reason: String) { state.withLock { $0.outcome?.reason = reason } }

    /// Whether a GPU's pictures of that sampling need no comparison any more.
    func trusts(_ node: String, _ sampling: BaselineJPEG.Sampling) -> Bool {
        state.withLock { $0.trusted.contains(Kind(node: node, sampling: sampling)) }
    }

    func trust(_ node: String, _ sampling: BaselineJPEG.Sampling) {
        state.withLock { _ = $0.trusted.insert(Kind(node: node, sampling: sampling)) }
    }

    /// Notes that a GPU is not to decode for the rest of the recording.
    func giveUp(_ node: String, _ reason: String) {
        state.withLock { state in
            state.obstacles[node] = reason
            state.outcome?.reason = reason
        }
    }

    /// Notes that the open encoder failed. The next one is to be opened without JPEG on its GPU, if that was decoded there:
    /// it may be what failed.
    /// - Returns: whether that was so.
    func blame() -> Bool {
        state.withLock { state in
            guard let node = state.node, state.sessionPictures > 0 else { return false }
            let reason = "the encoder failed while its GPU decoded JPEG as well"
            state.obstacles[node] = reason
            state.outcome?.reason = reason
            state.sessionPictures = 0
            return true
        }
    }
}
