import CamNetworking

/// The service manager that started this process and wants its status: systemd, by the protocol of sd_notify(3).
///
/// Undeliverable messages are dropped silently: there is no other recipient.
struct ServiceManager {
    private let address: DatagramAddress

    /// - Parameter address: the value of `NOTIFY_SOCKET`. Nil if it is not the address of a UNIX socket.
    init?(address: String) {
        guard let address = DatagramAddress(address) else { return nil }
        self.address = address
    }

    /// Sends assignments, one per line: `READY=1`, `STATUS=…`, `WATCHDOG=1`, `STOPPING=1`.
    func notify(_ assignments: String...) {
        address.send(assignments.joined(separator: "\n"), patience: .seconds(1))
    }
}
