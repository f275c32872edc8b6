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
        let code = access(folder, F_OK) == 0 ? 0 : errno
        guard code == 0, let space = Volume(folder: folder).space else {
            return Finding(
                .disk, isNeeded ? .broken : .note, folder,
                code == 0 ? "its size cannot be read" : String(cString: strerror(code)),
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
        let room = "\(size(free)) free: \(time(minutes: free / 500_000 / 60)) at 4 Mbit/s"
        if free >= comfortable { return Finding(.disk, .fine, folder, room) }
        return Finding(
            .disk, free < least ? .broken : .note, folder, room,
            remedy: "free some space, or record with --keep or --min-free")
    }

    /// `512 MiB`, `1.5 GiB`, `73 GiB`
    private static func size(_ bytes: Int) -> String {
        let (mebibytes, tenths) = (bytes >> 20, (bytes >> 20) * 10 / 1024)
        if mebibytes < 1024 { return "\(mebibytes) MiB" }
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) GiB" : "\(tenths / 10) GiB"
    }

    /// `40 minutes`, `43 hours`, `12 days`
    private static func time(minutes: Int) -> String {
        if minutes < 120 { return Quantity.count(minutes, "minute") }
        return minutes < 4 * 1440
            ? Quantity.count(minutes / 60, "hour") : Quantity.count(minutes / 1440, "day")
    }
}
