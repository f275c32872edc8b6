import Capture

/// Checks every video node, and looks for cameras that have none.
struct CameraCheck {
    let files: MachineFiles
    let deviceAccess: DeviceAccess

    func findings() -> [Finding] {
        let cameras = VideoNode.all().compactMap(finding)
        if cameras.contains(where: { $0.verdict == .fine }) { return cameras }
        let isBroken = cameras.contains { $0.verdict == .broken }
        return cameras + [absence(hasNodes: isBroken)].compactMap { $0 }
    }

    /// Nil for nodes that are not cameras.
    private func finding(_ path: String) -> Finding? {
        if let refusal = deviceAccess.refusal(of: path, class: "char-video4linux", module: "videodev") {
            return Finding(.cameras, .broken, path, refusal.message, remedy: refusal.remedy)
        }
        let entry = CameraEntry(path: path, withControls: false)
        guard let entry else { return nil }
        if let problem = entry.problem { return Finding(.cameras, .broken, path, problem) }
        guard !entry.formats.isEmpty else {
            return Finding(
                .cameras, .broken, path, "\(entry.name ?? "a camera") offers no pixel format",
                remedy: "unplug the camera and plug it in again")
        }
        let ownLink = StableLink.find(for: path, in: StableLink.ownFolder)
        let links = [ownLink, entry.stablePath].compactMap { $0 }.map { ", \($0)" }.joined()
        let name = "\(entry.name ?? "camera") (\(entry.driver ?? "unknown driver"))\(links)"
        if let reservation = entry.reservation {
            return Finding(
                .cameras, .note, path, "\(name): used only with --device \(path): \(reservation)")
        }
        guard isBusy(path) else { return Finding(.cameras, .fine, path, name) }
        return Self.busy(path, name, holder: DeviceHolder.find(of: path))
    }

    private func isBusy(_ path: String) -> Bool {
        do throws(CaptureError) { return try Camera(path: path).isBusy } catch { return false }
    }

    /// A camera from which a program streams. If that program is camrec, all is well.
    static func busy(_ path: String, _ name: String, holder: String?) -> Finding {
        if let holder, holder.hasPrefix("camrec ") {
            return Finding(.cameras, .fine, path, "\(name); recorded by \(holder)")
        }
        return Finding(
            .cameras, .broken, path, "\(DeviceAccess.occupation) \(holder ?? "another program"): \(name)",
            remedy: "close that program, or record with --wait")
    }

    /// Why there may be no camera.
    func absence(hasNodes: Bool) -> Finding? {
        if hasNodes { return nil }
        let hidden = files.names(in: "/sys/class/video4linux").filter { $0.hasPrefix("video") }
        if let first = hidden.first(where: { !files.exists("/dev/\($0)") }) {
            return Finding(
                .cameras, .broken, "/dev/\(first)", "the kernel has it, but this /dev does not",
                remedy: "pass it to the container: --device /dev/\(first)")
        }
        if let interface = interfaceWithoutDriver {
            return Finding(
                .cameras, .broken, "USB \(interface)", "a webcam is plugged in, but its driver is not loaded",
                remedy: "sudo modprobe uvcvideo")
        }
        return Finding(
            .cameras, .broken, "camera", "none found",
            remedy: "plug one in; 'lsusb' lists what the machine sees")
    }

    /// A USB interface of the video class (0e) without a driver.
    private var interfaceWithoutDriver: String? {
        let folder = "/sys/bus/usb/devices"
        return files.names(in: folder).first {
            files.text("\(folder)/\($0)/bInterfaceClass")?.hasPrefix("0e") == true
                && !files.exists("\(folder)/\($0)/driver")
        }
    }
}
