/// What decodes a camera's Motion JPEG.
public enum JPEGWay: String, Sendable, Hashable, CaseIterable {
    /// The GPU if it does so correctly, otherwise the processor.
    case auto
    /// The GPU; an error if it cannot.
    case gpu
    /// The processor.
    case cpu
}
