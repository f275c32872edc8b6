/// What decoded a camera's Motion JPEG, as far as a GPU could have.
public struct JPEGOutcome: Sendable, Hashable {
    /// Pictures that the GPU decoded.
    public internal(set) var gpuPictures = 0
    /// Pictures that the processor decoded, because the GPU does not, or they are damaged or unusual.
    public internal(set) var cpuPictures = 0
    /// The latest reason why it was not the GPU; nil if it always was.
    public internal(set) var reason: String?
}
