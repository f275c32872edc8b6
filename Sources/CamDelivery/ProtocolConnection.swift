import CFFmpeg
import CamNetworking
import CamPlatform
import Glibc
import Synchronization
import Containers

/// A connection over one of libavformat's protocols, for a transport stream. Its calls block.
///
/// Safe to use in one thread at a time; a relay's thread does.
final class ProtocolConnection: @unchecked Sendable {
    // Safe to share: the context belongs to one thread at a time, first to the creator's; the rest is thread-safe.
    private let url: StreamURL
    private let library: cformat_library
    private let interruption: Interruption
    private let timeout: Duration
    private var context: UnsafeMutablePointer<AVIOContext>?
    /// When the current call is given up, in nanoseconds of the clock.
    private let deadline = Atomic<Int64>(.max)
    private var recent = RecentBytes(within: doubt)

    /// A transport stream's packet.
    private static let packetLength = 188

    /// SRT says that a peer is gone when it has heard nothing for five seconds (SRTO_PEERIDLETIMEO): what was sent in that
    /// time may not have arrived, nor may what waited for its latency before.
    private static let doubt = Duration.seconds(6)

    /// How long the last packets may be on their way, beyond the receiver's latency.
    private static let delivery = Duration.milliseconds(100)

    /// Connects.
    /// - Parameters:
    ///   - passphrase: encrypts the stream; nil for none.
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
        (self.url, self.interruption, self.timeout) = (url, interruption, timeout)
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        // Safe to leave unretained: the context lives no longer than the connection.
        var callback = AVIOInterruptCB(
            callback: { connection in
                guard let connection else { return 1 }
                return Unmanaged<ProtocolConnection>.fromOpaque(connection).takeUnretainedValue().isOver
                    ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        if let passphrase { av_dict_set(&options, "passphrase", passphrase, 0) }
        beginCall(timeout: attemptTimeout)
        let result = library.open_io(&context, url.complete, AVIO_FLAG_WRITE, &callback, &options)
        guard result < 0 else { return }
        if interruption.isRaised { throw NetworkError(.interrupted, address: "\(url)") }
        if isOver { throw NetworkError(.timedOut(after: attemptTimeout), address: "\(url)") }
        throw failure(result)
    }

    deinit { close() }

    private func close() { _ = library.close_io(&context) }

    /// Closes the connection once the peer has got everything, and handed it over: what a receiver still holds back when the
    /// connection closes is lost to it (libsrt's receiveMessage).
    private func finish() throws(Relay.Failure) {
        try flush()
        // A caller that gives up meanwhile has taken note of what was not confirmed.
        if url.latency > .zero { _ = interruption.wait(until: .now + url.latency + Self.delivery) }
        let start = Instant.now
        close()
        // SRT waits so long for the peer to confirm the rest.
        if let linger = url.linger, Instant.now - start >= linger { throw .silent(for: linger) }
        recent = RecentBytes(within: Self.doubt)
    }

    private func failure(_ result: Int32) -> NetworkError {
        if result == CFORMAT_NO_PROTOCOL {
            return NetworkError(
                .noProtocol(reason: "this FFmpeg lacks \(url.transport.rawValue)"), address: "\(url)")
        }
        // libsrt's reason gets lost on the way: nobody answers, or who does wants no connection.
        let words = latestWords.map {
            url.transport == .srt && result == -EIO
                ? "the receiver does not answer, or rejects the connection" : $0
        }
        guard let words else { return NetworkError(.notConnected(errno: -result), address: "\(url)") }
        return NetworkError(
            .protocolFailed(detail: words, isEncrypted: url.transport == .srt ? url.isEncrypted : nil),
            address: "\(url)")
    }

    /// What libavformat said of the latest failure; nil if nothing. It quotes the whole URL, with its passwords.
    private var latestWords: String? {
        defer { cffmpeg_clear_log() }
        let words = url.concealing(String(cString: cffmpeg_last_error()))
        return words.isEmpty ? nil : words
    }

    /// Sends what comes from a relay's socket until that ends, and closes the connection.
    func forward(from socket: borrowing Socket, _ relay: Relay) throws(Relay.Failure) {
        defer { close() }
        // Of libavformat's own buffer only whole packets are sent.
        var bytes = [UInt8](repeating: 0, count: Self.packetLength * 256)
        var (count, written, flushed) = (0, 0, 0)
        while true {
            // Only what was sent long ago has certainly arrived.
            defer { relay.noteConfirmed(flushed - recent.count(at: .now)) }
            switch bytes.withUnsafeMutableBytes({ socket.receive(into: .init(rebasing: $0[count...])) }) {
            case .received(let more):
                count += more
                let whole = count - count % Self.packetLength
                try write(bytes[..<whole])
                written += whole
                bytes.replaceSubrange(..<(count - whole), with: bytes[whole..<count])
                count -= whole
            case .nothing:
                try flush()
                flushed = written
                guard interruption.wait(for: socket.descriptor) == .ready else { return }
            case .ended, .broken:
                try finish()
                flushed = written
                return
            }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(Relay.Failure) {
        beginCall(timeout: timeout)
        bytes.withUnsafeBufferPointer { library.write_io(context, $0.baseAddress, Int32($0.count)) }
        // Whether a datagram arrives, nobody will ever know.
        if url.transport == .srt { recent.note(bytes.count, at: .now) }
        try checkCall()
    }

    private func flush() throws(Relay.Failure) {
        beginCall(timeout: timeout)
        library.flush_io(context)
        try checkCall()
    }

    private func checkCall() throws(Relay.Failure) {
        guard let code = context?.pointee.error, code < 0 else { return }
        if isOver { throw .silent(for: timeout) }
        let words = latestWords
        switch (url.transport, -code) {
        case (.udp, EACCES):
            throw .failed(detail: "Permission denied; if that is a broadcast address, add '?broadcast=1'")
        // libsrt's reason gets lost on the way: the other end has closed the connection, or is not heard any more.
        case (.srt, EIO): throw .failed(detail: "the receiver left or no longer answers")
        default: throw words.map { .failed(detail: $0) } ?? .broken(errno: -code)
        }
    }

    private func beginCall(timeout: Duration) {
        deadline.store((Instant.now + timeout).nanoseconds, ordering: .relaxed)
    }

    private var isOver: Bool {
        Instant.now.nanoseconds >= deadline.load(ordering: .relaxed) || interruption.isRaised
    }
}

/// How many bytes were sent lately, to within a second.
struct RecentBytes {
    private let time: Duration
    private var seconds: [(start: Instant, count: Int)] = []

    /// - Parameter time: how far "lately" goes back.
    init(within time: Duration) { self.time = time }

    /// Notes that bytes were sent.
    mutating func note(_ count: Int, at now: Instant) {
        if let last = seconds.last, now - last.start < .seconds(1) {
            seconds[seconds.count - 1].count += count
        } else {
            seconds.removeAll { now - $0.start > time + .seconds(1) }
            seconds.append((now, count))
        }
    }

    /// The bytes of that time, and of at most a second before.
    func count(at now: Instant) -> Int {
        seconds.filter { now - $0.start <= time + .seconds(1) }.reduce(0) { $0 + $1.count }
    }
}
