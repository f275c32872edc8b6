import CamPictures

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

    /// Grey pictures say little, but a camera at night has no others.
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
