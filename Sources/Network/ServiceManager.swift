import CSystem
import Glibc
import Threading
import Time

/// The service manager that started this process and wants its status: systemd, by the protocol of sd_notify(3).
///
/// Safe in any thread. Undeliverable messages are dropped silently: there is nobody else to tell.
public struct ServiceManager: Sendable {
    private let address: ResolvedAddress

    /// How long a service manager with a full queue is waited for.
    var patience = Duration.seconds(1)

    /// - Parameter address: the value of `NOTIFY_SOCKET`: a path, or `@` and an abstract name. Nil if it is
    ///   none of these.
    public init?(address: String) {
        let resolved =
            address.hasPrefix("@")
            ? ResolvedAddress(abstractName: String(address.dropFirst()))
            : address.hasPrefix("/") ? ResolvedAddress(path: address) : nil
        guard let resolved else { return nil }
        self.address = resolved
    }

    /// Sends assignments, one a line: `READY=1`, `STATUS=…`, `WATCHDOG=1`, `STOPPING=1`.
    public func notify(_ assignments: String...) {
        let descriptor = network_datagram_socket(AF_UNIX)
        guard descriptor >= 0 else { return }
        let socket = Socket(descriptor: descriptor)
        // The manager may have made its socket again since the last message.
        guard address.withSocketAddress({ network_connect(socket.descriptor, $0, $1) }) == 0 else { return }
        var message = assignments.joined(separator: "\n")
        message.withUTF8 { bytes in
            guard socket.send(UnsafeRawBufferPointer(bytes)) == .full else { return }
            let deadline = Instant.now + patience
            _ = Wake.wait(for: socket.descriptor, POLLOUT, unless: nil, until: deadline)
            _ = socket.send(UnsafeRawBufferPointer(bytes))
        }
    }
}
