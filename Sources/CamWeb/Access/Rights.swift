/// What a user of a password file may do. A user without a role may do what an administrator may.
package enum Role: String, Hashable, Sendable, CaseIterable {
    /// Watches and downloads.
    case viewer
    /// Also changes recordings and cameras, and sees details.
    case admin
}

/// What a client may do besides watching and downloading. All that is reserved asks here.
struct Rights: Hashable, Sendable {
    /// Whether the client may change recordings and cameras.
    let mayChange: Bool
    /// Whether the client sees causes and figures: addresses, paths, errors of the system, and what recorders report.
    let seesDetails: Bool

    /// The rights of somebody who has not logged in where passwords are asked for.
    static let nothing = Rights(mayChange: false, seesDetails: false)

    init(mayChange: Bool, seesDetails: Bool) { (self.mayChange, self.seesDetails) = (mayChange, seesDetails) }

    /// The rights of a user who has logged in; nil is a user without a role.
    init(_ role: Role?) {
        let isTrusted = role != .viewer
        self.init(mayChange: isTrusted, seesDetails: isTrusted)
    }

    /// Refuses what the rights do not cover.
    func permit(_ route: Route?) throws(Refusal) {
        switch route {
        case .recorder(_, .command):
            guard mayChange else { throw seesDetails ? .noChanges : .onlyWatches }
        case .recorder(_, .statistics), .recorder(_, .controls), .recorder(_, .findings), .metrics,
            .storage:
            guard seesDetails else { throw .onlyWatches }
        case .page, .cameras, .live, .login, .logout, .recorder(_, .snapshot), .recorder(_, .kept),
            .recordings,
            nil:
            break
        }
    }
}

extension Refusal {
    /// Another user may do it.
    static let onlyWatches = Refusal(
        status: .forbidden, reason: "this user may only watch and download; ask an administrator")
}
