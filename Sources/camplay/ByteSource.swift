import Threading

/// A stream of bytes, which may break and begin again.
///
/// Used by one thread.
protocol ByteSource: AnyObject {
    /// What it is called in messages.
    var name: String { get }

    /// Whether reading would not wait.
    var isReady: Bool { get }

    /// Reads available bytes, waiting for at least one or, in a live stream, for the first pause.
    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading

    /// The data read is unusable.
    /// - Parameter reason: in words.
    /// - Returns: whether something else can be read instead; else this was the end.
    func giveUp(_ reason: String) -> Bool
}

/// What came of reading.
enum Reading: Equatable {
    /// So many bytes, at least one.
    case bytes(Int)
    /// A live stream rests: what came last is likely to be a whole picture.
    case pause
    /// The stream has ended; the next read begins another. Not `isWhole` if something is missing
    /// at its end.
    case interrupted(isWhole: Bool)
    /// Nothing more will come.
    case ended
}
