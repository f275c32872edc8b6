/// Whether a GPU reads the camera's pictures without a copy.
public enum ZeroCopyWay: String, Sendable, Hashable, CaseIterable {
    /// If it does so correctly.
    case auto
    /// An error if it cannot.
    case on
    /// Pictures are copied.
    case off
}
