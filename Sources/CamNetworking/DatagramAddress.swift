import CLinux
import Glibc
import CamPlatform

/// The UNIX datagram socket of another process, which takes whole messages. Safe in any thread.
public struct DatagramAddress: Sendable {
    private let address: ResolvedAddress

    /// - Parameter text: an absolute path, or `@` and a name in Linux's abstract namespace (unix(7)). Nil if it is
    ///   neither.
    public init?(_ text: String) {
        let resolved =
            text.hasPrefix("@")
            ? ResolvedAddress(abstractName: String(text.dropFirst()))
            : text.hasPrefix("/") ? ResolvedAddress(path: text) : nil
        guard let resolved else { return nil }
        address = resolved
    }

    /// Sends a message; what cannot be delivered is dropped.
    /// - Parameter patience: how long to wait for room in a full queue.
    public func send(_ message: String, patience: Duration) {
        let descriptor = network_datagram_socket(AF_UNIX)
        guard descriptor >= 0 else { return }
        let socket = Socket(descriptor: descriptor)
        // The other process may have recreated its socket since the last message.
        guard address.withSocketAddress({ network_connect(socket.descriptor, $0, $1) }) == 0 else { return }
        var message = message
        message.withUTF8 { bytes in
            guard socket.send(UnsafeRawBufferPointer(bytes)) == .full else { return }
            _ = Wake.wait(for: socket.descriptor, POLLOUT, unless: nil, until: .now + patience)
            _ = socket.send(UnsafeRawBufferPointer(bytes))
        }
    }
}
