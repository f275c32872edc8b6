import CFFmpeg
import CamPlatform

/// A packet of coded sound, of about twenty milliseconds.
///
/// Filled by a `SoundPacketPool` and constant from then on, until the pool finds that it holds the only reference:
/// that justifies `@unchecked Sendable`.
public final class SoundPacket: @unchecked Sendable {
    /// When its first sample was captured.
    public fileprivate(set) var timestamp = Instant.start
    /// How long it lasts.
    public fileprivate(set) var duration = Duration.zero

    private var packet: UnsafeMutablePointer<AVPacket>?

    fileprivate init?() {
        packet = av_packet_alloc()
        if packet == nil { return nil }
    }

    /// A packet of bytes; nil if there is no memory.
    public convenience init?(_ bytes: [UInt8] = [], timestamp: Instant, duration: Duration) {
        self.init()
        guard let packet, av_new_packet(packet, Int32(bytes.count)) == 0 else { return nil }
        packet.pointee.data.update(from: bytes, count: bytes.count)
        (self.timestamp, self.duration) = (timestamp, duration)
    }

    deinit { av_packet_free(&packet) }

    /// When its last sample ends.
    public var end: Instant { timestamp + duration }

    /// The number of bytes.
    public var count: Int { Int(packet?.pointee.size ?? 0) }

    /// Provides access to the bytes, followed by the zeros that libavcodec requires. They must not be used after the
    /// call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: packet?.pointee.data, count: count))
    }

    /// Replaces the bytes by moving another packet's bytes here.
    fileprivate func take(_ other: UnsafeMutablePointer<AVPacket>, timestamp: Instant, duration: Duration) {
        guard let packet else { return }
        av_packet_unref(packet)
        av_packet_move_ref(packet, other)
        (self.timestamp, self.duration) = (timestamp, duration)
    }
}

/// Reuses packets once all other references to them are gone. Used by one thread.
struct SoundPacketPool {
    private var packets: [SoundPacket] = []

    /// Kept for reuse; more are created while outputs lag.
    private static let limit = 64

    /// Moves the bytes out of libavcodec's packet into a pooled one; nil if there is no memory.
    mutating func make(
        _ packet: UnsafeMutablePointer<AVPacket>, timestamp: Instant, duration: Duration
    ) -> SoundPacket? {
        let free = takeFree()
        free?.take(packet, timestamp: timestamp, duration: duration)
        return free
    }

    private mutating func takeFree() -> SoundPacket? {
        for index in packets.indices where holdsOnlyReference(to: &packets[index]) {
            return packets[index]
        }
        let packet = SoundPacket()
        if let packet, packets.count < Self.limit { packets.append(packet) }
        return packet
    }
}
