import CamPlatform
import Glibc

/// The parts of the environment of this process that may hide devices.
struct RuntimeEnvironment {
    /// The container's name, such as `docker`; nil outside containers.
    let container: String?
    /// The system service of this process; nil outside services.
    let service: String?
    let hasSysfs: Bool
    let hasUdev: Bool
    private let system: String

    init(_ files: MachineFiles) {
        container = Self.container(files)
        service = Self.service(files)
        // A path that a unit makes inaccessible looks like an empty folder.
        hasSysfs = !files.names(in: "/sys/class").isEmpty
        hasUdev = files.exists("/run/udev/data")
        // /proc/sys is hidden in many sandboxes.
        var name = utsname()
        uname(&name)
        let release = withUnsafeBytes(of: name.release) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let distribution = files.text("/etc/os-release")?.split(separator: "\n")
            .first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" }
        system = "Linux \(release), \(distribution ?? "unknown distribution")"
    }

    /// The name of the container, from systemd's Container Interface and from files of Docker and Podman.
    private static func container(_ files: MachineFiles) -> String? {
        if files.exists("/.dockerenv") { return "docker" }
        if files.exists("/run/.containerenv") { return "podman" }
        let environment = files.text("/proc/1/environ")?.split(separator: "\0") ?? []
        let named = environment.first { $0.hasPrefix("container=") }?.dropFirst("container=".count)
        let said = named ?? files.text("/run/systemd/container")?.split(separator: "\n").first
        return said.flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// The name of the service, from the path of the control group (cgroups(7)):
    /// `0::/system.slice/camrec@door.service`.
    private static func service(_ files: MachineFiles) -> String? {
        let group = files.text("/proc/self/cgroup")?.split(separator: "\n").last
        guard let group, group.contains("/system.slice/") else { return nil }
        return group.split(separator: "/").last { $0.hasSuffix(".service") }.map(String.init)
    }

    var findings: [Finding] {
        var findings = [Finding(.machine, .fine, "system", system)]
        if let container {
            findings.append(
                Finding(
                    .machine, .note, "container",
                    "running in a container (\(container)), which has only the devices passed to it",
                    remedy: "pass devices to it: --device /dev/video0 --device /dev/dri"))
        }
        if let service {
            findings.append(
                Finding(
                    .machine, .note, "service", "running as \(service), with the permissions of that unit"))
        }
        if !hasSysfs {
            findings.append(
                Finding(
                    .machine, .note, "/sys",
                    "hidden: plugged-in devices and their drivers are unknown"))
        }
        if !hasUdev {
            findings.append(
                Finding(
                    .machine, .note, "udev",
                    "not running here: no links in /dev/v4l/by-id and /dev/camrec; name cameras by /dev/videoN"
                ))
        }
        return findings
    }
}

// MARK: Files of the kernel and the distribution

/// The files in which the kernel and the distribution describe the machine. Only tests change their root.
struct MachineFiles {
    /// Without a trailing slash.
    var root = ""

    private static let mostBytes = 16 << 10

    func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    /// In alphabetical order; empty if the folder cannot be read.
    func names(in path: String) -> [String] {
        Folder.names(in: root + path).filter { $0 != "." && $0 != ".." }.sorted()
    }

    /// The beginning of a file, up to 16 KiB; nil if it cannot be read.
    func text(_ path: String) -> String? {
        let descriptor = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The last component of a link's target.
    func linkedName(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(root + path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let target = String(decoding: bytes.prefix(count).map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        return target.split(separator: "/").last.map(String.init)
    }
}
