import Glibc

/// Descriptors 0, 1 and 2, which a careless parent may have closed.
public enum StandardDescriptors {
    /// Puts something in the place of closed ones that fails on use: otherwise the next file or camera to be
    /// opened would take the number, and messages would be written into it.
    public static func fill() {
        for (descriptor, uselessMode) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is taken, which is this one.
            _ = open("/dev/null", uselessMode)
        }
    }
}
