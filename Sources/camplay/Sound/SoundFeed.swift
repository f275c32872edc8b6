import CamSound
import CamPlatform

/// Where a player's sound comes from, and when it is due. Used by the sound's thread.
protocol SoundFeed: AnyObject {
    /// What comes next; nil if there is nothing now.
    /// - Parameter isOver: called now and then; true ends the search.
    func next(isOver: () -> Bool) -> SoundFeedItem?

    /// Continues at a time, if that is possible.
    func seek(to time: Duration)

    /// When something at a time is due; nil if that is unknown, and in a pause.
    func moment(of time: Duration) -> Instant?
}

/// A piece of a player's sound.
enum SoundFeedItem {
    /// What the packets from here on are; they do not follow those before.
    case begins(SoundDescription)
    /// A packet, at its time since the first picture.
    case packet(SoundPacket)
    /// There is none before a time; look again then, or when something has changed.
    case later(Instant)
}
