import Glibc

/// How long a file was when it was opened, to notice that somebody cuts it while it is read: its end then looks like
/// any other.
public struct FileLength: Sendable {
    private let descriptor: Int32
    /// Nil for what is no file in a file system.
    private let original: off_t?

    /// Takes the length of an open file, whose descriptor stays the caller's.
    public init(descriptor: Int32) {
        (self.descriptor, original) = (descriptor, Self.length(of: descriptor))
    }

    /// Whether it is shorter than it was. One that has grown is not: a recording under way does.
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
