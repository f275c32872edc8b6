/// Looks at what `scripts/install` puts in place, and at each camera's settings.
struct ServiceCheck {
    let files: MachineFiles
    let checkSettings: (String) -> [SettingsProblem]

    private static let settingsFolder = "/etc/camrec"

    func findings() -> [Finding] {
        let isInstalled = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].contains {
            files.exists("\($0)/systemd/system/camrec@.service")
        }
        let settings = files.names(in: Self.settingsFolder).filter { $0.hasSuffix(".conf") }
        guard isInstalled || !settings.isEmpty else {
            return [
                Finding(
                    .services, .note, "camrec@.service", "not installed: nothing records by itself",
                    remedy: "sudo scripts/install")
            ]
        }
        if settings.isEmpty {
            return [
                Finding(
                    .services, .note, Self.settingsFolder,
                    "no camera has settings there: nothing records by itself",
                    remedy:
                        "sudo cp examples/camera.conf \(Self.settingsFolder)/NAME.conf, with the name of a link in /dev/camrec"
                )
            ]
        }
        return settings.map(finding)
    }

    private func finding(_ file: String) -> Finding {
        let path = "\(Self.settingsFolder)/\(file)", service = "camrec@\(file.dropLast(5)).service"
        if let problem = checkSettings(files.root + path).first {
            return Finding(.services, .broken, path, problem.reason, remedy: "camrec check \(path)")
        }
        if isRunning(service) { return Finding(.services, .fine, service, "running") }
        return Finding(
            .services, .note, service, "not running; its settings are sound",
            remedy: "sudo systemctl start \(service)")
    }

    /// A service that runs has a control group with a process in it.
    private func isRunning(_ service: String) -> Bool {
        files.text("/sys/fs/cgroup/system.slice/system-camrec.slice/\(service)/cgroup.procs")?.isEmpty
            == false
    }
}
