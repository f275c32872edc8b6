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
    }

    private struct Kind: Hashable {
        let node: String
        let sampling: BaselineJPEG.Sampling
    }

    /// Nil as long as there was no Motion JPEG for a GPU's encoder.
    var outcome: JPEGOutcome? { state.withLock { $0.outcome } }

    /// Notes that encoders are opened on a render node.
    /// - Returns: their session, and why their GPU is not to decode; nil if it may.
    func begin(on node: String) -> (session: InputSession, obstacle: String?) {
        state.withLock { state in
            state.outcome = state.outcome ?? JPEGOutcome()
            return (InputSession(on: node), state.obstacles[node])
        }
    }

    /// Whether a GPU is not to decode any more.
    func hasGivenUp(_ node: String) -> Bool { state.withLock { $0.obstacles[node] != nil } }

    /// Counts a picture that the GPU has decoded for a session's encoders: from now on that may be why they fail.
    func countGPU(for session: InputSession) {
        session.noteUse()
        state.withLock { $0.outcome?.gpuPictures += 1 }
    }

    /// Counts a picture that the processor has decoded.
    func countCPU() { state.withLock { $0.outcome?.cpuPictures += 1 } }

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

    /// Notes that an encoder failed. The next one is to be opened without JPEG on its GPU, if that was decoded there: it may
    /// be what failed, and each of a session's encoders may blame it.
    /// - Returns: whether that was so.
    func blame(by session: InputSession) -> Bool {
        guard session.mayBeBlamed else { return false }
        let reason = "the encoder failed while its GPU decoded JPEG as well"
        state.withLock { state in
            state.obstacles[session.node] = reason
            state.outcome?.reason = reason
        }
        return true
    }
}
