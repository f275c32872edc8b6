import CamPictures
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

/// Which pictures a GPU read in the memory that the camera wrote them into.
public struct SharingOutcome: Sendable, Hashable {
    /// Whose memory it is.
    public enum Memory: String, Sendable, Hashable {
        /// The GPU's: the camera writes into it.
        case gpu
        /// The camera's: the GPU reads it.
        case camera
    }

    /// Whose memory it was last; nil if no picture was shared.
    public internal(set) var memory: Memory?
    /// Pictures that the GPU read where they were.
    public internal(set) var sharedPictures = 0
    /// Pictures that the processor copied.
    public internal(set) var copiedPictures = 0
    /// How many bytes of the camera's pictures the processor read.
    public internal(set) var bytesRead = 0
    /// The latest reason why a picture was copied; nil if none was.
    public internal(set) var reason: String?
}

/// Whether a GPU reads the pictures in a camera's buffers where they are: open until one was compared.
///
/// Used by the thread that encodes.
final class SharingVerdict {
    private let way: ZeroCopyWay
    private let record: SharingRecord
    private let session: InputSession
    /// The camera's buffers; a camera that is opened again has others.
    private weak var pool: PixelBufferPool?
    private var state = State.open
    /// How many of their pictures were compared.
    private var compared = 0

    /// Gray pictures say little, but a camera at night has no others.
    static let mostComparisons = 10

    private enum State { case open, shared, copied }

    /// - Parameter session: the encoders, as the record knows them.
    init(_ way: ZeroCopyWay, _ record: SharingRecord, _ session: InputSession) {
        (self.way, self.record, self.session) = (way, record, session)
    }

    /// Whether the next picture must be compared.
    var isOpen: Bool { state == .open }

    /// Whether the next picture will probably be read where it is.
    var isLikely: Bool { state != .copied }

    /// Starts over when the camera has new buffers, unless its GPU was to blame. Pictures in the encoder keep what they need.
    /// - Parameter pool: nil if the picture's buffer is not shared.
    /// - Returns: whether these are other buffers.
    func begin(_ pool: PixelBufferPool?) -> Bool {
        guard pool !== self.pool else { return false }
        self.pool = pool
        if !record.hasGivenUp(session.node) { (state, compared) = (.open, 0) }
        return true
    }

    /// Whether the GPU is to read the next picture. From then on a failure may be due to that.
    /// - Parameter isShared: whether it is in memory that the camera shares.
    func allowsUse(isShared: Bool) throws(EncoderError) -> Bool {
        guard isLikely else { return false }
        if let reason = record.obstacle(on: session.node) {
            try copy(because: reason)
        } else if !isShared {
            try copy(because: record.refusal ?? "the camera does not share its memory")
        }
        return isLikely && record.noteUse(by: session)
    }

    /// Follows a comparison of what the GPU sees with the processor's picture, as far as one can tell. The last one is that
    /// of a picture with something in it.
    /// - Parameter result: nil if what the GPU sees cannot be read back.
    func follow(_ result: SharedComparison.Result?) throws(EncoderError) {
        switch result {
        case .same(let isTelling):
            compared += 1
            if isTelling || compared == Self.mostComparisons { state = .shared }
        case .different: try giveUp("the GPU sees another picture in the shared memory")
        case nil: try giveUp("what the GPU sees in the shared memory cannot be read back")
        }
    }

    /// Copies pictures from now on, for the rest of the recording: the GPU is to blame.
    func giveUp(_ reason: String) throws(EncoderError) {
        record.giveUp(reason, by: session)
        try copy(because: reason)
    }

    /// Copies the pictures of these buffers.
    private func copy(because reason: String) throws(EncoderError) {
        state = .copied
        record.note(reason)
        try way.allowCopies(because: reason)
    }
}

/// Whether a GPU reads the camera's pictures without a copy.
public enum ZeroCopyWay: String, Sendable, Hashable, CaseIterable {
    /// If it does so correctly.
    case auto
    /// An error if it cannot.
    case on
    /// Pictures are copied.
    case off

    /// Allows pictures to be copied.
    /// - Parameter reason: why they must be, for people.
    /// - Throws: if they must not be.
    func allowCopies(because reason: String) throws(EncoderError) {
        guard self == .on else { return }
        throw EncoderError(.unsupported("--zero-copy on: \(reason); use --zero-copy auto"))
    }
}
