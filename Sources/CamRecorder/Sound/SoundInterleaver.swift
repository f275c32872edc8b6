import Bitstream
import CamSound
import CamPlatform
import Containers

/// Puts an output's sound between its pictures: each packet before the first picture that is shown after the packet begins.
/// Files that are cut at a picture are cut there in both.
///
/// Pictures wait for the sound of their time, which is later by some hundredths of a second; where nobody is to wait, sound
/// goes on as it comes.
struct SoundInterleaver {
    private let holdsPictures: Bool
    /// Pictures, and what happens between them.
    private var pictures: [OutputItem] = []
    private var sounds: [SoundPacket] = []
    /// The latest time that a picture has been shown, of those that went on.
    private var latestShown: Instant?
    /// The capture time of the latest picture.
    private var latestPicture: Instant?
    private var soundEnd: Instant?
    private var isEnding = false
    /// Whether more sound may come.
    private var hasMoreSound = true

    /// The most time that pictures wait for sound that does not come.
    private static let patience = Duration.seconds(1)
    /// As many packets as five minutes have.
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
        case .stream, .event: pictures.append(item)
        case .soundEnd:
            hasMoreSound = false
            pictures.append(item)
        }
    }

    /// Notes that nothing more is added: what is left may go on.
    mutating func end() { isEnding = true }

    /// Returns what may go on; nil if that must wait for more.
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

    /// What begins before the end of the last picture is its sound, and where nobody waits, all that comes.
    private mutating func nextSound() -> OutputItem? {
        guard let sound = sounds.first, let latestShown else { return nil }
        guard !holdsPictures || isEnding && sound.timestamp < latestShown + Self.lastPicture else {
            return nil
        }
        return .sound(sounds.removeFirst())
    }

    /// How long the last picture is shown at most: sound is not cut before it.
    private static let lastPicture = Duration.milliseconds(40)
}
