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
