import Bitstream
import CamSound
import CamPlatform
import Containers

/// Interleaves an output's sound and pictures: each packet comes before the first picture that is shown after
/// the packet begins. A file that is cut at a picture then cuts sound and pictures at the same time.
///
/// Pictures wait for the sound of their time, which arrives some hundredths of a second later. Without
/// `holdsPictures`, nothing waits, and sound is passed on as it arrives.
struct SoundInterleaver {
    private let holdsPictures: Bool
    /// Pictures, and the items between them.
    private var pictures: [OutputItem] = []
    private var sounds: [SoundPacket] = []
    /// The latest time at which a returned picture is shown.
    private var latestShown: Instant?
    /// The capture time of the latest picture.
    private var latestPicture: Instant?
    private var soundEnd: Instant?
    private var isEnding = false
    /// Whether more sound may come.
    private var hasMoreSound = true

    /// The longest time that pictures wait for missing sound.
    private static let patience = Duration.seconds(1)
    /// The number of packets in five minutes.
    private static let mostSounds = 15_000

    /// - Parameter holdsPictures: whether they wait for sound.
    init(holdsPictures: Bool) { self.holdsPictures = holdsPictures }

    /// Adds the next item.
    mutating func add(_ item: OutputItem) {
        switch item {
        case .sound(let packet):
            soundEnd = packet.end
            if sounds.count < Self.mostSounds { sounds.append(packet) }
        case .unit(let unit):
            latestPicture = max(latestPicture ?? unit.timestamp, unit.timestamp)
            pictures.append(item)
        case .stream, .event, .keeping: pictures.append(item)
        case .soundEnd:
            hasMoreSound = false
            pictures.append(item)
        }
    }

    /// Records that nothing more is added, so all remaining items may be returned.
    mutating func end() { isEnding = true }

    /// Returns the next item; nil if it must wait for more items.
    mutating func next() -> OutputItem? {
        guard let first = pictures.first else { return nextSound() }
        guard case .unit(let unit) = first else { return pictures.removeFirst() }
        let shown = max(latestShown ?? unit.timestamp, unit.timestamp)
        if let sound = sounds.first, sound.timestamp < shown { return .sound(sounds.removeFirst()) }
        guard !holdsPictures || isEnding || hasSound(until: shown, of: unit) else { return nil }
        latestShown = shown
        return pictures.removeFirst()
    }

    private func hasSound(until time: Instant, of unit: AccessUnit) -> Bool {
        if !hasMoreSound { return true }
        if let soundEnd, soundEnd >= time { return true }
        return (latestPicture ?? time) - unit.timestamp > Self.patience
    }

    /// Returns sound that begins before the end of the last picture, or any sound if nothing waits.
    private mutating func nextSound() -> OutputItem? {
        guard let sound = sounds.first, let latestShown else { return nil }
        guard !holdsPictures || isEnding && sound.timestamp < latestShown + Self.lastPicture else {
            return nil
        }
        return .sound(sounds.removeFirst())
    }

    /// The longest time that the last picture is shown: its sound is kept.
    private static let lastPicture = Duration.milliseconds(40)
}
