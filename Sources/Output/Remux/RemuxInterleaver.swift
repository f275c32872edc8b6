import Sound
import Time

/// Puts sound before the first picture that is shown later, as players read it, wherever the file has it.
struct RemuxInterleaver {
    private var waiting: ArraySlice<SoundPacket> = []
    /// The bytes of those.
    private var byteCount = 0
    /// The latest time of a picture so far, and the first one's.
    private var latest: Duration?
    private var origin = Duration.zero
    /// The part that is wanted, by the time from the first picture.
    private let range: Range<Duration>

    /// More than any file has between a picture and its sound.
    private static let (mostPackets, mostBytes) = (16_384, 64 << 20)
    /// Later than any time in a file.
    private static let never = Duration.seconds(1 << 40)

    /// - Parameter cut: where the recording is cut; nil if all of it is wanted.
    init(_ cut: RemuxCut?) { range = (cut?.start ?? .zero - Self.never)..<(cut?.end ?? Self.never) }

    /// Takes sound, on the pictures' clock.
    mutating func append(_ packet: SoundPacket) {
        waiting.append(packet)
        byteCount += packet.count
        while waiting.count > Self.mostPackets || byteCount > Self.mostBytes { removeFirst() }
    }

    /// Notes when the next picture is shown, whether it is wanted or not.
    mutating func note(_ time: Duration) {
        if latest == nil { origin = time }
        latest = max(latest ?? time, time)
    }

    /// The next sound that goes before the last picture noted.
    mutating func next() -> SoundPacket? {
        guard let latest else { return nil }
        return next(before: .start + latest)
    }

    /// The next sound after the last picture.
    mutating func rest() -> SoundPacket? { next(before: .distantFuture) }

    private mutating func removeFirst() { byteCount -= waiting.removeFirst().count }

    private mutating func next(before time: Instant) -> SoundPacket? {
        while let first = waiting.first, first.timestamp < time {
            removeFirst()
            if range.contains(first.timestamp - .start - origin) { return first }
        }
        return nil
    }
}
