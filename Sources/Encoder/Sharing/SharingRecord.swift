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
        /// By render node, the latest session.
        var sessions: [String: InputSession] = [:]
        /// Why the camera uses its memory for itself.
        var refusal: String?
    }

    /// Nil as long as no GPU encodes.
    var outcome: SharingOutcome? { state.withLock { $0.outcome } }

    /// Why the camera uses its memory for itself, if it was to share it.
    var refusal: String? { state.withLock { $0.refusal } }

    /// Notes that the camera is to use its memory for itself.
    func refuse(_ reason: String) { state.withLock { $0.refusal = reason } }

    /// Notes that encoders are opened on a render node. Those before them there are replaced.
    /// - Returns: their session, and why their GPU is not to read the camera's memory; nil if it may.
    func begin(on node: String) -> (session: InputSession, obstacle: String?) {
        let session = InputSession(on: node)
        return state.withLock { state in
            state.outcome = state.outcome ?? SharingOutcome()
            state.sessions[node] = session
            return (session, state.obstacles[node])
        }
    }

    /// Notes that encoders are about to read a picture there: from now on that may be why they fail. Encoders that were
    /// replaced say nothing any more, though their thread may come back.
    /// - Returns: false if they were replaced.
    func noteUse(by session: InputSession) -> Bool {
        state.withLock { state in
            guard state.sessions[session.node] === session else { return false }
            session.noteUse()
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
    /// - Parameter session: the encoders that have found out.
    func giveUp(_ reason: String, by session: InputSession) {
        state.withLock { state in
            guard state.sessions[session.node] === session else { return }
            state.obstacles[session.node] = reason
            state.outcome?.reason = reason
        }
    }

    /// Notes that an encoder failed. The next one is to be opened without the camera's memory, if it read that: it may be
    /// what failed. What one codec's encoder reads fails another's as well, so each of a session may blame it.
    /// - Returns: whether it read the camera's memory.
    func blame(by session: InputSession) -> Bool {
        guard session.mayBeBlamed else { return false }
        let reason = "the encoder failed while it read the camera's memory"
        state.withLock { state in
            state.obstacles[session.node] = reason
            state.outcome?.reason = reason
        }
        return true
    }
}
