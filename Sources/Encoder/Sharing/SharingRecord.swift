import CamConversion
import CamPictures
import Synchronization

/// A recording's knowledge about GPUs that read the camera's memory, and its counts of shared and copied
/// pictures.
///
/// Safe to use from any thread: a thread that hung in a driver may return after its replacement has started.
final class SharingRecord: Sendable {
    private let state = Mutex(State())

    private struct State {
        var outcome: SharingOutcome?
        /// By render node, why its GPU no longer reads the camera's memory.
        var obstacles: [String: String] = [:]
        /// By render node, the latest session.
        var sessions: [String: InputSession] = [:]
        /// Why the camera does not share its memory.
        var refusal: String?
    }

    /// Nil until a GPU encodes.
    var outcome: SharingOutcome? { state.withLock { $0.outcome } }

    /// Why the camera does not share its memory; nil if nothing speaks against sharing.
    var refusal: String? { state.withLock { $0.refusal } }

    /// Records that the camera must not share its memory.
    func refuse(_ reason: String) { state.withLock { $0.refusal = reason } }

    /// Records that encoders are opened on a render node, where they replace earlier encoders.
    /// - Returns: the encoders' session, and why their GPU must not read the camera's memory, or nil if it
    ///   may.
    func begin(on node: String) -> (session: InputSession, obstacle: String?) {
        let session = InputSession(on: node)
        return state.withLock { state in
            state.outcome = state.outcome ?? SharingOutcome()
            state.sessions[node] = session
            return (session, state.obstacles[node])
        }
    }

    /// Records that encoders are about to read a picture in the camera's memory. From now on, this may be why
    /// they fail. Replaced encoders, whose thread may return, change nothing.
    /// - Returns: false if the encoders were replaced.
    func noteUse(by session: InputSession) -> Bool {
        state.withLock { state in
            guard state.sessions[session.node] === session else { return false }
            session.noteUse()
            return true
        }
    }

    /// Whether a GPU must no longer read the camera's memory.
    func hasGivenUp(_ node: String) -> Bool { obstacle(on: node) != nil }

    /// Why a GPU must no longer read the camera's memory; nil if it may.
    func obstacle(on node: String) -> String? { state.withLock { $0.obstacles[node] } }

    /// Counts a picture that the GPU reads in place.
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

    /// Counts the bytes that the processor read for a comparison.
    func countCompared(bytes: Int) { state.withLock { $0.outcome?.bytesRead += bytes } }

    /// Records why one picture is copied, or all pictures.
    func note(_ reason: String) { state.withLock { $0.outcome?.reason = reason } }

    /// Records that a GPU must not read the camera's memory for the rest of the recording.
    /// - Parameter session: the encoders that found the fault. The call has no effect if they were replaced.
    func giveUp(_ reason: String, by session: InputSession) {
        state.withLock { state in
            guard state.sessions[session.node] === session else { return }
            state.obstacles[session.node] = reason
            state.outcome?.reason = reason
        }
    }

    /// Records that an encoder failed. If the encoder read the camera's memory, that may have been the cause,
    /// and the next encoder gets copies. Shared memory that breaks one codec's encoder breaks the others,
    /// too, so each encoder of a session may cause that.
    /// - Returns: whether the encoder read the camera's memory.
    func disable(for session: InputSession) -> Bool {
        guard session.mayBeCause else { return false }
        let reason = "the encoder failed while it read the camera's memory"
        state.withLock { state in
            state.obstacles[session.node] = reason
            state.outcome?.reason = reason
        }
        return true
    }
}

/// How many pictures a GPU read in place, and how many the processor copied.
public struct SharingOutcome: Sendable, Hashable {
    /// The owner of the memory that pictures are in.
    public enum Memory: String, Sendable, Hashable {
        /// GPU memory, which the camera writes into.
        case gpu
        /// Camera memory, which the GPU reads.
        case camera
    }

    /// The owner of the memory last used; nil if no picture was shared.
    public internal(set) var memory: Memory?
    /// Pictures that the GPU read in place.
    public internal(set) var sharedPictures = 0
    /// Pictures that the processor copied.
    public internal(set) var copiedPictures = 0
    /// The number of bytes of the camera's pictures that the processor read.
    public internal(set) var bytesRead = 0
    /// The latest reason why a picture was copied; nil if none was copied.
    public internal(set) var reason: String?
}

// MARK: - Verdict

/// Whether a GPU reads the pictures in a camera's buffers in place. Open until a comparison decides.
///
/// Used by the encode thread.
final class SharingVerdict {
    private let way: ZeroCopyMode
    private let record: SharingRecord
    private let session: InputSession
    /// The camera's buffers; a reopened camera has others.
    private weak var pool: PixelBufferPool?
    private var state = State.open
    /// The number of compared pictures from these buffers.
    private var compared = 0

    /// The maximum number of comparisons. Gray pictures prove little, but a camera at night has no others.
    static let mostComparisons = 10

    private enum State { case open, shared, copied }

    /// - Parameter session: identifies the encoders in the record.
    init(_ way: ZeroCopyMode, _ record: SharingRecord, _ session: InputSession) {
        (self.way, self.record, self.session) = (way, record, session)
    }

    /// Whether the next picture must be compared.
    var isOpen: Bool { state == .open }

    /// Whether the next picture will probably be read in place.
    var isLikely: Bool { state != .copied }

    /// Starts over when the camera has new buffers, unless the GPU was at fault. Pictures in the encoder keep
    /// their buffers.
    /// - Parameter pool: the buffers' pool; nil if the picture's buffer is not shared.
    /// - Returns: whether the buffers are new.
    func begin(_ pool: PixelBufferPool?) -> Bool {
        guard pool !== self.pool else { return false }
        self.pool = pool
        if !record.hasGivenUp(session.node) { (state, compared) = (.open, 0) }
        return true
    }

    /// Whether the GPU may read the next picture in place. If so, later failures may be due to that.
    /// - Parameter isShared: whether the picture is in memory that the camera shares.
    func allowsUse(isShared: Bool) throws(EncoderError) -> Bool {
        guard isLikely else { return false }
        if let reason = record.obstacle(on: session.node) {
            try copy(because: reason)
        } else if !isShared {
            try copy(because: record.refusal ?? "the camera does not share its memory")
        }
        return isLikely && record.noteUse(by: session)
    }

    /// Takes the result of a comparison between the GPU's and the processor's view. The first telling
    /// comparison that succeeds settles the verdict.
    /// - Parameter result: nil if the GPU's view cannot be read back.
    func follow(_ result: SharedComparison.Result?) throws(EncoderError) {
        switch result {
        case .same(let isTelling):
            compared += 1
            if isTelling || compared == Self.mostComparisons { state = .shared }
        case .different: try giveUp("the GPU sees another picture in the shared memory")
        case nil: try giveUp("what the GPU sees in the shared memory cannot be read back")
        }
    }

    /// Records that the GPU is at fault, and has pictures copied for the rest of the recording.
    func giveUp(_ reason: String) throws(EncoderError) {
        record.giveUp(reason, by: session)
        try copy(because: reason)
    }

    /// Makes the processor copy the pictures of these buffers.
    private func copy(because reason: String) throws(EncoderError) {
        state = .copied
        record.note(reason)
        try way.allowCopies(because: reason)
    }
}

/// Whether a GPU reads the camera's pictures without a copy.
public enum ZeroCopyMode: String, Sendable, Hashable, CaseIterable {
    /// Without a copy if the GPU reads the pictures correctly.
    case auto
    /// Without a copy; an error if that fails.
    case on
    /// Always with a copy.
    case off

    /// Checks that pictures may be copied.
    /// - Parameter reason: why a copy is necessary, for the error's message.
    /// - Throws: if the user requested sharing.
    func allowCopies(because reason: String) throws(EncoderError) {
        guard self == .on else { return }
        throw EncoderError(.unsupported("--zero-copy on: \(reason); use --zero-copy auto"))
    }
}

extension PictureTreatment.Converters {
    /// Why a GPU cannot read these pictures in the camera's memory; nil if it can.
    var obstacleToSharing: String? {
        if !source.isShareable {
            return "a GPU reads only NV12, YUYV and UYVY of even size, and this is \(source.pixelFormat)"
        }
        if hidesParts { return "--privacy is drawn into a copy" }
        if drawsText { return "--overlay is drawn into a copy" }
        if !framing.isPlain { return "\(framing) makes a copy" }
        if makesThumbnails { return "--on-motion looks at a copy" }
        return source.color == color ? nil : "colours are changed in a copy"
    }
}
