import CamPlatform
import Glibc

/// Determines which device nodes this process may open, and the remedy for one that it may not.
struct DeviceAccess {
    let user: User
    let environment: RuntimeEnvironment

    /// Seconds.
    private static let patience = 10

    /// The beginning of every message about missing permission.
    static let refusal = "permission denied"
    /// The beginning of every message about a camera that is in use.
    static let occupation = "in use by"

    /// Returns the refusal and its remedy; nil if the node can be opened, or fails for another reason than
    /// permissions.
    func refusal(of node: String, class deviceClass: String, module: String) -> (
        message: String, remedy: String
    )? {
        // A driver may hang in opening its node, which wakes the GPU. Later checks report that.
        let code = WatchedThread().run(patience: Self.patience) {
            let descriptor = open(node, O_RDWR | O_CLOEXEC | O_NONBLOCK)
            if descriptor < 0 { return errno }
            close(descriptor)
            return 0
        }
        guard let code, code != 0 else { return nil }
        return refusal(
            code, of: node, owningGroup: DeviceNode.owningGroup(of: node), class: deviceClass, module: module
        )
    }

    /// - Parameter code: errno of open(2).
    func refusal(
        _ code: Int32, of node: String, owningGroup: String?, class deviceClass: String, module: String
    ) -> (message: String, remedy: String)? {
        switch code {
        // The permissions of the file suffice, but those of the control group do not.
        case EPERM where environment.service != nil:
            (
                "\(Self.refusal) by the unit's DevicePolicy",
                "systemctl edit \(environment.service ?? ""): DeviceAllow=\(deviceClass) rw, and load \(module) before it starts"
            )
        case EPERM:
            ("\(Self.refusal) by the container", "pass the device to the container: --device \(node)")
        case EACCES: refusalByFile(node, owningGroup)
        default: nil
        }
    }

    private func refusalByFile(_ node: String, _ group: String?) -> (message: String, remedy: String) {
        guard let group else {
            return (
                "\(Self.refusal): its group has no access",
                "install the package, or run 'sudo scripts/install' in a checkout: camrec's udev rules give it a group"
            )
        }
        if let service = environment.service {
            return (
                "\(Self.refusal): only group '\(group)' has access",
                "systemctl edit \(service): SupplementaryGroups=\(group)"
            )
        }
        if user.enrolledGroups.contains(group), !user.groups.contains(group) {
            return (
                "\(Self.refusal): '\(user.name)' joins group '\(group)' at the next login",
                "log out and in again"
            )
        }
        return (
            "\(Self.refusal): only group '\(group)' has access",
            "sudo usermod -aG \(group) \(user.name), then log out and in again"
        )
    }
}

// MARK: The user

/// The user that this process runs as.
struct User {
    let name: String
    /// The groups of the process.
    let groups: Set<String>
    /// The groups that the user will have after the next login.
    let enrolledGroups: Set<String>

    static func current() -> User {
        let id = geteuid()
        let name = getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? "\(id)"
        var held = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))) + 1)
        let heldCount = Int(max(0, getgroups(Int32(held.count), &held)))
        var enrolled = [gid_t](repeating: 0, count: 256)
        var enrolledCount = Int32(enrolled.count)
        // If there are more groups than fit, the first ones suffice.
        getgrouplist(name, getegid(), &enrolled, &enrolledCount)
        return User(
            name: name,
            groups: Set((held.prefix(heldCount) + [getegid()]).map(groupName)),
            enrolledGroups: Set(enrolled.prefix(Int(enrolledCount)).map(groupName)))
    }

    private static func groupName(_ id: gid_t) -> String {
        getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? "\(id)"
    }

    var finding: Finding {
        Finding(.machine, .fine, "user", "\(name), in the groups \(groups.sorted().joined(separator: ", "))")
    }
}
