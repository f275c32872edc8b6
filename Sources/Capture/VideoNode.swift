import CamPlatform

/// The video device nodes of this machine.
public enum VideoNode {
    /// `/dev/video0`, `/dev/video1`, …, in the order of their numbers.
    public static func all() -> [String] {
        let numbers = Folder.names(in: "/dev").compactMap { name in
            name.hasPrefix("video") ? Int(name.dropFirst(5)) : nil
        }
        return numbers.sorted().map { "/dev/video\($0)" }
    }
}
