import CamPlatform
import CamSound

/// Puts each packet of sound before the first picture that is shown later, the order that players expect.
///
/// Times restart where recordings were joined. The sound may restart before the pictures, because a demuxer
/// returns the last picture of a recording only when the next recording begins.
struct RemuxInterleaver {
    /// The remaining sound of recordings that have ended.
    private var past: ArraySlice<SoundPacket> = []
    private var waiting: ArraySlice<SoundPacket> = []
    /// Sound of the next recording, whose pictures have not begun.
    private var following: ArraySlice<SoundPacket> = []
    private var restart = SoundRestart()
    /// Whether the current recording has had pictures but no sound: the next
    /// sound may belong to the previous one.
    private var awaitsSound = false
    /// The size of all waiting sound in bytes.
    private var byteCount = 0
    /// The first picture's time.
    private var origin: Duration?
    /// The latest time of a picture of the current recording.
    private var latest: Duration?
    /// The requested part, by the time from the first picture; nil for the whole recording.
    private let range: Range<Duration>?

    /// More than any file has between a picture and its sound.
    private static let (mostPackets, mostBytes) = (16_384, 64 << 20)
    /// Later than any time in a file.
    private static let never = Duration.seconds(1 << 40)
    /// Sound that is later than the first pictures of a recording by more than this
    /// belongs to the previous recording.
    private static let lead = Duration.seconds(1)

    /// - Parameter cut: the requested part, which contains only the sound of the first of joined recordings;
    ///   nil for the whole recording.
    init(_ cut: RemuxCut?) { range = cut.map { $0.start..<($0.end ?? Self.never) } }

    /// Takes sound, on the pictures' clock.
    mutating func append(_ packet: SoundPacket) {
        let time: Duration = packet.timestamp - .start
        restart.note(time)
        if awaitsSound {
            if !restart.hasRestarted, let latest, time > latest + Self.lead { return }
            (awaitsSound, restart) = (false, SoundRestart())
            restart.note(time)
        }
        if restart.hasRestarted { following.append(packet) } else { waiting.append(packet) }
        byteCount += packet.count
        while waiting.count + following.count > Self.mostPackets || byteCount > Self.mostBytes {
            removeOldest()
        }
    }

    /// Records the presentation time of the next picture, even if the picture is not in the requested part.
    /// - Parameter isIDR: whether it is an IDR picture, which is shown after all earlier ones.
    mutating func note(_ time: Duration, isIDR: Bool) {
        origin = origin ?? time
        if isIDR, range == nil, let latest, time < latest - SoundRestart.largestStepBack { beginRecording() }
        latest = max(latest ?? time, time)
    }

    /// The next sound that goes before the last picture noted.
    mutating func next() -> SoundPacket? {
        if let packet = past.popFirst() { return packet }
        return latest.flatMap { next(before: .start + $0) }
    }

    /// The next sound after the last picture.
    mutating func rest() -> SoundPacket? { past.popFirst() ?? next(before: .distantFuture) }

    private mutating func beginRecording() {
        let sounds = following
        past += waiting
        (waiting, following, latest, byteCount) = ([], [], nil, 0)
        awaitsSound = sounds.isEmpty && restart.hasBegun
        guard !awaitsSound else { return }
        restart = SoundRestart()
        for packet in sounds { append(packet) }
    }

    private mutating func removeOldest() {
        let oldest = waiting.popFirst() ?? following.popFirst()
        byteCount -= oldest?.count ?? byteCount
    }

    private mutating func next(before time: Instant) -> SoundPacket? {
        while let first = waiting.first, first.timestamp < time {
            waiting.removeFirst()
            byteCount -= first.count
            if range?.contains(first.timestamp - .start - (origin ?? .zero)) ?? true { return first }
        }
        return nil
    }
}

/// Detects that the times of sound restart, as they do where recordings were joined.
struct SoundRestart {
    /// Whether the times have restarted.
    private(set) var hasRestarted = false
    private var latest: Duration?

    /// Rounding causes smaller steps back than this.
    static let largestStepBack = Duration.milliseconds(100)

    /// Whether there was sound.
    var hasBegun: Bool { latest != nil }

    /// Notes when the next packet begins.
    mutating func note(_ time: Duration) {
        if let latest, time < latest - Self.largestStepBack { hasRestarted = true }
        latest = max(latest ?? time, time)
    }
}
