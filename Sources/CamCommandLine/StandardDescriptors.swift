import Glibc

/// Descriptors 0, 1 and 2, which a careless parent may have closed.
public enum StandardDescriptors {
    /// Replaces closed ones with descriptors that fail on use: otherwise the next file or camera to be opened
    /// would get the number, and messages would be written to it.
    public static func fill() {
        for (descriptor, uselessMode) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
        ] where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) uses the lowest free number, which is this one.
            _ = open("/dev/null", uselessMode)
        }
    }
}
