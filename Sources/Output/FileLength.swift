import Glibc

/// The length of a file when it was opened. Distinguishes a file that was truncated while being read from one
/// that has simply ended.
public struct FileLength: Sendable {
    private let descriptor: Int32
    /// `nil` unless it is a regular file.
    private let original: off_t?

    /// Takes the length of an open file, whose descriptor stays the caller's.
    public init(descriptor: Int32) {
        (self.descriptor, original) = (descriptor, Self.length(of: descriptor))
    }

    /// Whether it is shorter than it was. Growing is fine: a recording in progress does.
    public var hasShrunk: Bool {
        guard let original, let current = Self.length(of: descriptor) else { return false }
        return current < original
    }

    private static func length(of descriptor: Int32) -> off_t? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status.st_size
    }
}
