import CLinux
import Glibc

/// How many files this process may have open (RLIMIT_NOFILE).
public struct DescriptorLimit: Sendable {
    /// Descriptors are smaller than this.
    public let count: Int
    /// The limits that the process was started with, which its child processes get.
    let original: rlimit

    init(count: Int, original: rlimit = rlimit()) { (self.count, self.original) = (count, original) }

    /// Raises the limit as far as the system allows. Programs that a user starts get 1024 only for the sake of old ones,
    /// and many clients need more.
    public static func raise() -> DescriptorLimit {
        var limit = rlimit()
        processes_get_descriptor_limit(&limit)
        let original = limit
        limit.rlim_cur = limit.rlim_max
        let isRaised = processes_set_descriptor_limit(&limit) == 0
        return DescriptorLimit(
            count: Int(clamping: isRaised ? limit.rlim_cur : original.rlim_cur), original: original)
    }

    /// Where the descriptors begin that are left for files, cameras and GPUs, which open some at any time.
    /// - Parameter outputs: how many outputs there are.
    public func reserve(outputs: Int) -> Int {
        max(0, count - outputs * Self.perOutput - min(count / 4, Self.mostElse))
    }

    /// The next file and its timestamps, its folder, and the journal.
    private static let perOutput = 6
    /// For a camera and an encoder that are opened again, with buffers that they share, and for the control socket.
    private static let mostElse = 64
}
