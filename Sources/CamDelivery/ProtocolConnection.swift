import CFFmpeg
import CamNetworking
import CamPlatform
import Glibc
import Synchronization
import Containers

/// A connection over one of libavformat's protocols, for a transport stream. All calls block.
///
/// Safe to use in one thread at a time; a relay's thread does.
final class ProtocolConnection: @unchecked Sendable {
    // Safe to share: the context belongs to one thread at a time, first to the creator's; the rest is thread-safe.
    private let url: StreamURL
    private let library: cformat_library
    private let cancellation: CancellationFlag
    private let timeout: Duration
    private var context: UnsafeMutablePointer<AVIOContext>?
    /// When the current call is given up, in nanoseconds of the clock.
    private let deadline = Atomic<Int64>(.max)
    private var recent = RecentBytes(within: doubt)

    /// A transport stream's packet.
    private static let packetLength = 188

    /// SRT reports a peer as gone after five seconds of silence (SRTO_PEERIDLETIMEO). Data sent in that time
    /// may not have arrived, and neither may earlier data that still waited for the latency.
    private static let doubt = Duration.seconds(6)

    /// The delivery time of the last packets, in addition to the receiver's latency.
    private static let delivery = Duration.milliseconds(100)

    /// Connects.
    /// - Parameters:
    ///   - passphrase: encrypts the stream; nil for no encryption.
    ///   - attemptTimeout: the longest time for connecting.
    ///   - timeout: the longest time in which the peer accepts no data.
    ///   - cancellation: ends every wait.
    init(
        to url: StreamURL, passphrase: String?, attemptTimeout: Duration, timeout: Duration,
        cancellation: CancellationFlag
    ) throws(NetworkError) {
        do throws(ContainerLibrary.Failure) { library = try ContainerLibrary.load() } catch {
            throw NetworkError(.noProtocol(reason: "\(error.name): \(error.reason)"), address: "\(url)")
        }
        (self.url, self.cancellation, self.timeout) = (url, cancellation, timeout)
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
        if cancellation.isRaised { throw NetworkError(.interrupted, address: "\(url)") }
        if isOver { throw NetworkError(.timedOut(after: attemptTimeout), address: "\(url)") }
        throw failure(result)
    }

    deinit { close() }

    private func close() { _ = library.close_io(&context) }

    /// Closes the connection once the peer has received and delivered everything: data that the receiver
    /// still holds back when the connection closes is lost (libsrt's receiveMessage).
    private func finish() throws(Relay.Failure) {
        try flush()
        // A caller that gives up during this wait has recorded the unconfirmed bytes.
        if url.latency > .zero { _ = cancellation.wait(until: .now + url.latency + Self.delivery) }
        let start = Instant.now
        close()
        // Closing takes this long only if the peer does not confirm the rest.
        if let linger = url.linger, Instant.now - start >= linger { throw .silent(for: linger) }
        recent = RecentBytes(within: Self.doubt)
    }

    private func failure(_ result: Int32) -> NetworkError {
        if result == CFORMAT_NO_PROTOCOL {
            return NetworkError(
                .noProtocol(reason: "this FFmpeg lacks \(url.transport.rawValue)"), address: "\(url)")
        }
        // libavformat drops libsrt's reason: there is no answer, or the receiver rejects the connection.
        let words = latestWords.map {
            url.transport == .srt && result == -EIO
                ? "the receiver does not answer, or rejects the connection" : $0
        }
        guard let words else { return NetworkError(.notConnected(errno: -result), address: "\(url)") }
        return NetworkError(
            .protocolFailed(detail: words, isEncrypted: url.transport == .srt ? url.isEncrypted : nil),
            address: "\(url)")
    }

    /// libavformat's message about the latest failure, without the URL's passwords; nil if there is none.
    private var latestWords: String? {
        defer { cffmpeg_clear_log() }
        let words = url.concealing(String(cString: cffmpeg_last_error()))
        return words.isEmpty ? nil : words
    }

    /// Forwards data from a relay's socket until its end, and closes the connection.
    func forward(from socket: borrowing Socket, _ relay: Relay) throws(Relay.Failure) {
        defer { close() }
        // Forward whole packets only.
        var bytes = [UInt8](repeating: 0, count: Self.packetLength * 256)
        var (count, written, flushed) = (0, 0, 0)
        while true {
            // Only data sent long enough ago has certainly arrived.
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
                guard cancellation.wait(for: socket.descriptor) == .ready else { return }
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
        // UDP has no confirmations.
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
        // libavformat drops libsrt's reason: the receiver has closed the connection, or has gone silent.
        case (.srt, EIO): throw .failed(detail: "the receiver left or no longer answers")
        default: throw words.map { .failed(detail: $0) } ?? .broken(errno: -code)
        }
    }

    private func beginCall(timeout: Duration) {
        deadline.store((Instant.now + timeout).nanoseconds, ordering: .relaxed)
    }

    private var isOver: Bool {
        Instant.now.nanoseconds >= deadline.load(ordering: .relaxed) || cancellation.isRaised
    }
}

/// Counts the bytes sent in a recent period, accurate to a second.
struct RecentBytes {
    private let time: Duration
    private var seconds: [(start: Instant, count: Int)] = []

    /// - Parameter time: the length of the period.
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

    /// The bytes sent in the period, and in up to a second before it.
    func count(at now: Instant) -> Int {
        seconds.filter { now - $0.start <= time + .seconds(1) }.reduce(0) { $0 + $1.count }
    }
}
