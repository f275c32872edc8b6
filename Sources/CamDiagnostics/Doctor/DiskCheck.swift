import CamPlatform
import Glibc

/// Checks the free space of the folders for recordings.
enum DiskCheck {
    /// The folder for recordings of the service.
    private static let serviceFolder = "/var/lib/camrec"
    private static let least = 16 << 20
    private static let comfortable = 1 << 30

    static func findings(folder: String, files: MachineFiles) -> [Finding] {
        let serviceFolder = files.exists(serviceFolder) ? [files.root + serviceFolder] : []
        return [finding(folder, isNeeded: true)] + serviceFolder.map { finding($0, isNeeded: false) }
    }

    /// - Parameter isNeeded: whether a recording needs the folder.
    private static func finding(_ folder: String, isNeeded: Bool) -> Finding {
        guard let space = Volume(folder: folder).space else {
            return Finding(
                .disk, isNeeded ? .broken : .note, folder, String(cString: strerror(errno)),
                remedy: "create the folder")
        }
        guard access(folder, W_OK) == 0 else {
            return Finding(
                .disk, isNeeded ? .broken : .note, folder,
                "cannot be written to: \(String(cString: strerror(errno)))",
                remedy: isNeeded ? "record into another folder" : nil)
        }
        return finding(folder, free: space.free)
    }

    /// - Parameter free: bytes.
    static func finding(_ folder: String, free: Int) -> Finding {
        // 720p takes about four megabits a second.
        let room = "\(free >> 20) MiB free: \(free / 500_000 / 60) minutes at 4 Mbit/s"
        if free >= comfortable { return Finding(.disk, .fine, folder, room) }
        return Finding(
            .disk, free < least ? .broken : .note, folder, room,
            remedy: "free some space, or record with --keep or --min-free")
    }
}
