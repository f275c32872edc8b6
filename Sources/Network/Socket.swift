import CSystem
import Glibc

/// A connected stream socket, which closes with its owner. Never blocks, and never raises SIGPIPE.
///
/// One thread at a time uses it.
public struct Socket: ~Copyable, Sendable {
    /// For polling; the owner closes it.
    public let descriptor: Int32

    /// Takes over a connected descriptor, which the socket closes.
    public init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Takes over a descriptor that does not block.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// What became of bytes to be sent.
    public enum Sending: Sendable, Equatable {
        /// The system accepted this many bytes, at least one.
        case sent(Int)
        /// The system accepts nothing until there is room.
        case full
        /// The system has no memory for it now, and will not say when it has.
        case exhausted
        case broken(errno: Int32)
    }

    /// What came.
    public enum Receiving: Sendable, Equatable {
        /// So many bytes, at least one.
        case received(Int)
        case nothing
        /// The peer sends no more.
        case ended
        case broken(errno: Int32)
    }

    /// Sends as many of the bytes, of which there is at least one, as the system takes.
    public func send(_ bytes: UnsafeRawBufferPointer) -> Sending {
        let result = network_send(descriptor, bytes.baseAddress, bytes.count)
        if result >= 0 { return .sent(result) }
        let code = Int32(-result)
        return switch code {
        case EAGAIN: .full
        case ENOBUFS, ENOMEM: .exhausted
        default: .broken(errno: code)
        }
    }

    /// Reads available bytes, as far as there is room, which is at least one byte.
    public func receive(into room: UnsafeMutableRawBufferPointer) -> Receiving {
        let result = network_receive(descriptor, room.baseAddress, room.count)
        if result > 0 { return .received(result) }
        if result == 0 { return .ended }
        return Int32(-result) == EAGAIN ? .nothing : .broken(errno: Int32(-result))
    }

    /// Discards the bytes available now: a connection that is closed over unread bytes is
    /// reset, and what was sent is lost (RFC 1122, 4.2.2.13).
    public func discardReceived() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { room in
            for _ in 0..<64 {
                guard case .received = receive(into: room) else { return }
            }
        }
    }

    /// Tells the peer that no more comes. What was sent still arrives.
    public func shutDownWriting() { _ = network_shut_down_writing(descriptor) }

    /// Why the connection broke, as errno; nil if it did not.
    public func takeError() -> Int32? {
        let code = network_pending_error(descriptor)
        return code == 0 ? nil : code
    }

    /// Bytes sent of which the peer's system has not said yet that it has them, also once the connection is
    /// broken; 0 if unknown.
    public var unconfirmedByteCount: Int { max(0, Int(network_unconfirmed(descriptor))) }

    /// Prepares a TCP connection for a live stream; without effect on others.
    ///
    /// `TCP_NODELAY`: a picture leaves when it is there. `TCP_NOTSENT_LOWAT`: the system keeps at most
    /// 128 KiB that are not on their way yet; without it, it hides megabytes, and so seconds, from the sender
    /// (tcp(7)). `TCP_USER_TIMEOUT`: a peer whose machine is gone is given up, but not before the sender gives
    /// up a peer that reads nothing. Keepalive does the same while nothing is sent, with some probes within that
    /// time, so that one that is lost does no harm: the time-out decides, not their number (tcp(7)).
    /// - Parameter patience: how long until a sender gives up a peer that reads nothing; whole seconds count.
    public func prepareForStreaming(patience: Duration) {
        let seconds = Int32(clamping: max(1, patience.components.seconds))
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 128 << 10)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(clamping: (Int(seconds) + 1) * 1000))
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, max(1, seconds / 2))
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, max(1, seconds / 5))
    }

    private func set(_ level: Int32, _ name: Int32, _ value: Int32) {
        _ = network_set_option(descriptor, level, name, value)
    }
}
