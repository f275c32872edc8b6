import CFFmpeg
import CFormat
import Glibc
import Network
import Synchronization
import Threading
import Time

/// Sends a transport stream over one of libavformat's protocols: what is written to the relay's socket goes there.
///
/// libavformat's calls block, so they run on a separate thread. If the peer fails or accepts no data for too long, the
/// relay closes the socket. When the socket is closed, it closes the connection.
final class ProtocolRelay: @unchecked Sendable {
    // Safe to share: the context belongs to one thread at a time, first to the creator's; the rest is thread-safe.
    private let library: cformat_library
    private let interruption: Interruption
    private let timeout: Duration
    private var context: UnsafeMutablePointer<AVIOContext>?
    /// When the current call is given up, in nanoseconds of the clock.
    private let deadline = Atomic<Int64>(.max)
    private let monitor = Monitor()
    private var hasEnded = false

    /// A transport stream's packet.
    private static let packetLength = 188

    /// Connects.
    /// - Parameters:
    ///   - passphrase: for a URL that wants one; at most 79 bytes count.
    ///   - attemptTimeout: how long that may take.
    ///   - timeout: how long the peer may accept no data.
    ///   - interruption: ends every wait.
    init(
        to url: StreamURL, passphrase: String?, attemptTimeout: Duration, timeout: Duration,
        interruption: Interruption
    ) throws(NetworkError) {
        do throws(ContainerLibrary.Failure) { library = try ContainerLibrary.load() } catch {
            throw NetworkError(.noProtocol(reason: "\(error.name): \(error.reason)"), address: "\(url)")
        }
        (self.interruption, self.timeout) = (interruption, timeout)
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        // Safe to leave unretained: the context lives no longer than the relay.
        var callback = AVIOInterruptCB(
            callback: { relay in
                guard let relay else { return 1 }
                return Unmanaged<ProtocolRelay>.fromOpaque(relay).takeUnretainedValue().isOver ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        if url.wantsPassphrase, let passphrase { av_dict_set(&options, "passphrase", passphrase, 0) }
        beginCall(timeout: attemptTimeout)
        let result = library.open_io(&context, url.complete, AVIO_FLAG_WRITE, &callback, &options)
        guard result < 0 else { return }
        if interruption.isRaised { throw NetworkError(.interrupted, address: "\(url)") }
        if isOver { throw NetworkError(.timedOut(after: attemptTimeout), address: "\(url)") }
        throw Self.failure(result, url)
    }

    deinit { _ = library.close_io(&context) }

    private static func failure(_ result: Int32, _ url: StreamURL) -> NetworkError {
        if result == CFORMAT_NO_PROTOCOL {
            return NetworkError(
                .noProtocol(reason: "this FFmpeg lacks \(url.transport.rawValue)"), address: "\(url)")
        }
        // It quotes the whole URL, with its passwords.
        let detail = url.concealing(String(cString: cffmpeg_last_error()))
        cffmpeg_clear_log()
        return detail.isEmpty
            ? NetworkError(.notConnected(errno: -result), address: "\(url)")
            : NetworkError(.protocolFailed(detail: detail), address: "\(url)")
    }

    /// Starts the thread.
    /// - Returns: the socket for the stream.
    func start() throws(NetworkError) -> Socket {
        try Socket.Pair().split { (near, far) throws(NetworkError) in
            let far = FarEnd(far)
            guard let thread = WorkerThread(body: { [self] in run(far) }) else {
                throw NetworkError(.noResources(errno: EAGAIN), address: "relay")
            }
            thread.detach()
            return near
        }
    }

    /// Waits until what was written to the socket has been sent, after the socket was closed, or the deadline has passed.
    func waitForEnd(until deadline: Instant) {
        monitor.withLock { while !hasEnded, Instant.now < deadline { monitor.wait(until: deadline) } }
        interruption.raise()
    }

    private func run(_ end: FarEnd) {
        end.forward { forward(from: $0) }
        _ = library.close_io(&context)
        monitor.withLock {
            hasEnded = true
            monitor.signal()
        }
    }

    private func forward(from socket: borrowing Socket) {
        // Of libavformat's own buffer only whole packets are sent.
        var bytes = [UInt8](repeating: 0, count: Self.packetLength * 256)
        var count = 0
        while true {
            switch bytes.withUnsafeMutableBytes({ socket.receive(into: .init(rebasing: $0[count...])) }) {
            case .received(let more):
                count += more
                let whole = count - count % Self.packetLength
                guard write(bytes[..<whole]) else { return }
                bytes.replaceSubrange(..<(count - whole), with: Array(bytes[whole..<count]))
                count -= whole
            case .nothing:
                guard flush(), interruption.wait(for: socket.descriptor) == .ready else { return }
            case .ended, .broken:
                _ = flush()
                return
            }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let context else { return false }
        beginCall(timeout: timeout)
        bytes.withUnsafeBufferPointer { library.write_io(context, $0.baseAddress, Int32($0.count)) }
        return context.pointee.error >= 0
    }

    private func flush() -> Bool {
        guard let context else { return false }
        beginCall(timeout: timeout)
        library.flush_io(context)
        return context.pointee.error >= 0
    }

    private func beginCall(timeout: Duration) {
        deadline.store((Instant.now + timeout).nanoseconds, ordering: .relaxed)
    }

    private var isOver: Bool {
        Instant.now.nanoseconds >= deadline.load(ordering: .relaxed) || interruption.isRaised
    }
}

/// The relay's own end of its socket, which closes once everything is forwarded.
private final class FarEnd: @unchecked Sendable {
    // Safe to share: one thread at a time uses it.
    private var socket: Socket?

    init(_ socket: consuming Socket) { self.socket = consume socket }

    func forward(_ body: (borrowing Socket) -> Void) {
        guard let socket = socket.take() else { return }
        body(socket)
    }
}
