import Glibc

/// The user that this process runs as.
struct User {
    let name: String
    /// The groups that the process has.
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
        // If there are more than fit, the first ones suffice.
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
