import Output
import CamSound
import CamPlatform

/// Places a file's sound on its pictures' clock where recordings follow each other: the times of both start over, and the
/// sound continues where the pictures do, however much longer or shorter it was than they were.
///
/// A demuxer returns the last picture of a recording only when the next one begins, and so perhaps after the next
/// recording's first sound, which waits here until its pictures begin.
struct JoinedSound {
    /// Sound whose recording is known.
    struct Piece {
        let packet: SoundPacket
        /// Added to a time of its recording, gives the pictures' clock.
        let offset: Duration
        /// Whether it is the first of its recording, and does not follow the sound before.
        let begins: Bool
    }

    /// Sound in the order of the file, ready to be played.
    private var ready: ArraySlice<Piece> = []
    /// Sound of a recording whose pictures have not begun.
    private var waiting: [SoundPacket] = []
    /// Where the pictures are.
    private var place = PictureClock.Place()
    /// Of the recording whose sound came last.
    private var offset = Duration.zero
    /// The time of the latest sound, as the file has it.
    private var latest: Duration?

    /// A step back by more begins another recording.
    private static let largestStepBack = Duration.milliseconds(100)
    /// A step ahead by more, after pictures of another recording, is sound of that.
    private static let largestStepAhead = Duration.seconds(1)
    /// Sound that waits at most: more than a file has between a picture and its sound.
    private static let limit = 512

    /// The time of the latest picture on the pictures' clock.
    var pictureTime: Duration { place.time }

    /// Notes the next picture, in the order of the file.
    /// - Parameters:
    ///   - time: as the file has it.
    ///   - allowsEntry: whether a recording can begin with it. Others step back only because they are reordered.
    ///   - frameDuration: computes how long a picture is shown; called only where a recording may begin.
    mutating func notePicture(at time: Duration, allowsEntry: Bool, frameDuration: () -> Duration) {
        let isBack = time + place.offset < place.elapsed
        guard allowsEntry || !isBack else { return }
        place.go(to: time, duration: isBack ? frameDuration() : .zero)
        place.count += 1
        if allowsEntry { release() }
    }

    /// Adds the next sound, in the order of the file.
    mutating func add(_ packet: SoundPacket) {
        let time = packet.timestamp - .start
        defer { latest = time }
        guard waiting.isEmpty else {
            waiting.append(packet)
            if waiting.count >= Self.limit { release() }
            return
        }
        guard let latest else {
            offset = place.offset
            return ready.append(Piece(packet: packet, offset: offset, begins: true))
        }
        let isBack = time < latest - Self.largestStepBack
        if isBack, place.offset == offset { return waiting.append(packet) }
        let begins = place.offset != offset && (isBack || time > latest + Self.largestStepAhead)
        if begins { offset = place.offset }
        ready.append(Piece(packet: packet, offset: offset, begins: begins))
    }

    /// The next sound whose recording is known; nil if there is none yet.
    mutating func next() -> Piece? { ready.popFirst() }

    private mutating func release() {
        let begins = place.offset != offset
        guard let first = waiting.first else { return }
        offset = place.offset
        ready.append(Piece(packet: first, offset: offset, begins: begins))
        for packet in waiting.dropFirst() {
            ready.append(Piece(packet: packet, offset: offset, begins: false))
        }
        waiting.removeAll()
    }
}
