import CamPlatform

/// A stream of bytes, which may break and restart.
///
/// Used by one thread.
protocol ByteSource: AnyObject {
    /// Its name in messages.
    var name: String { get }

    /// Whether reading would not block.
    var isReady: Bool { get }

    /// Reads available bytes, waiting for at least one or, in a live stream, for the first pause.
    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading

    /// Called if the data read is unusable.
    /// - Parameter reason: in words.
    /// - Returns: whether something else can be read instead; otherwise this was the end.
    func giveUp(_ reason: String) -> Bool
}

/// The result of reading.
enum Reading: Equatable {
    /// This many bytes, at least one.
    case bytes(Int)
    /// A live stream pauses: what came last is probably a complete picture.
    case pause
    /// The stream has ended; the next read begins another. `isWhole` is false if something is missing at its
    /// end.
    case interrupted(isWhole: Bool)
    /// Nothing more will come.
    case ended
}
