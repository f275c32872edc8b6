import CamPlatform

/// The result of evaluating a settings file.
package enum SettingsCheck: Sendable {
    /// The settings are valid; `device` is nil for the first camera.
    case sound(device: String?)
    /// The settings have problems, in the order of lines.
    case wrong([SettingsProblem])
}

/// Checks the files that `scripts/install` installs, and the settings of each camera.
struct ServiceCheck {
    let files: MachineFiles
    let checkSettings: (String) -> SettingsCheck

    private static let settingsFolder = "/etc/camrec"

    func findings() -> [Finding] {
        let isInstalled = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].contains {
            files.exists("\($0)/systemd/system/camrec@.service")
        }
        let settings = files.names(in: Self.settingsFolder).filter { $0.hasSuffix(".conf") }
        guard isInstalled || !settings.isEmpty else {
            return [
                Finding(
                    .services, .note, "camrec@.service", "not installed: nothing records unattended",
                    remedy: "install the package, or run 'sudo scripts/install' in a checkout")
            ]
        }
        if settings.isEmpty {
            return [
                Finding(
                    .services, .note, Self.settingsFolder,
                    "no camera has settings here: nothing records unattended",
                    remedy:
                        "sudo sh -c 'sed s/NAME/DOOR/ \(example) >\(Self.settingsFolder)/DOOR.conf', with the name of a link in /dev/camrec for DOOR"
                )
            ]
        }
        return settings.map(finding)
    }

    /// The path of the example settings of a camera, installed or in a checkout.
    private var example: String {
        let name = "examples/camera.conf"
        return ["/usr/local/share/doc/camrec", "/usr/share/doc/camrec"].lazy
            .map { "\($0)/\(name)" }
            .first(where: files.exists) ?? name
    }

    private func finding(_ file: String) -> Finding {
        let path = "\(Self.settingsFolder)/\(file)", service = "camrec@\(file.dropLast(5)).service"
        switch checkSettings(files.root + path) {
        case .wrong(let problems):
            return Finding(
                .services, .broken, path, problems.first?.reason ?? "wrong", remedy: "camrec check \(path)")
        case .sound(let device?) where device.hasPrefix("/dev/") && !files.exists(device):
            return Finding(
                .services, .note, service, "its camera is missing: \(device)",
                remedy:
                    "plug it in, or put its name into \(path) ('ls /dev/camrec' lists the cameras)"
            )
        case .sound: break
        }
        if isRunning(service) { return Finding(.services, .fine, service, "running") }
        return Finding(
            .services, .note, service, "not running; its settings are valid",
            remedy: "sudo systemctl start \(service)")
    }

    /// A running service has a control group that contains a process.
    private func isRunning(_ service: String) -> Bool {
        files.text("/sys/fs/cgroup/system.slice/system-camrec.slice/\(service)/cgroup.procs")?.isEmpty
            == false
    }
}
