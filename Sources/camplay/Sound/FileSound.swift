import Bitstream
import CamPictures
import CamPlatform
import CamSound
import Containers

/// The sound of a file, read apart from the pictures, so that neither waits for the other.
final class FileSound: SoundFeed {
    private let reader: ContainerReader
    private let presentation: Presentation
    /// The description of the packets returned last.
    private var current: SoundDescription?
    /// The packet to return after its description.
    private var pending: SoundPacket?
    /// Where playing begins; earlier sound is left out.
    private var beginning = Duration.zero
    /// The sound that was read, and where its recording is on the pictures' clock.
    private var joined = JoinedSound()
    /// Whether pictures are left out up to the next keyframe, because of damage: no time passes for them.
    private var isDamaged = false
    /// The difference between the pictures' clock and the time of the packet returned last.
    private var offset = Duration.zero

    /// How far ahead of the pictures the file is searched for sound.
    private static let lead = Duration.seconds(5)

    /// - Parameters:
    ///   - reader: a reader of the file with sound, which nothing else uses.
    ///   - presentation: knows when pictures are due.
    init(_ reader: ContainerReader, with presentation: Presentation) {
        (self.reader, self.presentation) = (reader, presentation)
    }

    func next(isOver: () -> Bool) -> SoundFeedItem? {
        if let packet = pending.take() { return .packet(packet) }
        while true {
            while let piece = joined.next() {
                if piece.packet.end + piece.offset > .start + beginning { return item(piece) }
            }
            // An error is the end here, too: the pictures' reader reports it.
            guard let packet = try? reader.next() else { return nil }
            if let sound = packet.sound {
                joined.add(sound)
                if isOver() { return nil }
                continue
            }
            isDamaged = packet.problem != nil || (isDamaged && !packet.allowsEntry)
            if packet.isPicture, !isDamaged, let time = packet.time {
                joined.notePicture(at: time, allowsEntry: packet.allowsEntry, frameDuration: frameDuration)
                if let wait = wait() { return .later(wait) }
            }
            if isOver() { return nil }
        }
    }

    func seek(to time: Duration) {
        (pending, current, joined, beginning, offset) = (nil, nil, JoinedSound(), time, .zero)
        isDamaged = false
        try? reader.seek(to: time)
    }

    func moment(of time: Duration) -> Instant? { presentation.moment(of: time + offset) }

    private func item(_ piece: JoinedSound.Piece) -> SoundFeedItem {
        offset = piece.offset
        guard let description = reader.sound, piece.begins || description != current else {
            return .packet(piece.packet)
        }
        (current, pending) = (description, piece.packet)
        return .begins(description)
    }

    /// How long the picture that was just read is shown, by its parameter sets.
    private func frameDuration() -> Duration {
        var parameterSets = StreamParameterSets(codec: reader.codec)
        let bytes = reader.bytes
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: bytes.span.bytes) {
            // Other NAL units, and unreadable ones, do not affect the rate.
            _ = try? parameterSets.insert(bytes.span.bytes.extracting(unit.bytes))
        }
        return PictureClock.frameDuration(at: StreamDescription(parameterSets)?.frameRate)
    }

    /// When to read on, if the latest picture read is far ahead of the one shown: without sound, the file
    /// need not be read to its end.
    private func wait() -> Instant? {
        let time = joined.pictureTime
        guard time > beginning + Self.lead else { return nil }
        guard let moment = presentation.moment(of: time) else { return .distantFuture }
        return moment - Self.lead > .now ? moment - Self.lead : nil
    }
}

// MARK: Joined recordings

/// Places a file's sound on its pictures' clock where recordings follow each other: the times of both start over, and the
/// sound continues where the pictures do, however much longer or shorter it was than they were.
///
/// A demuxer returns the last picture of a recording only when the next one begins, and so perhaps after the next
/// recording's first sound, which waits here until its pictures begin.
struct JoinedSound {
    /// Sound whose recording is known.
    struct Piece {
        let packet: SoundPacket
        /// The difference between the pictures' clock and a time of its recording.
        let offset: Duration
        /// Whether it is the first of its recording, and does not continue the previous sound.
        let begins: Bool
    }

    /// Sound in the order of the file, ready to be played.
    private var ready: ArraySlice<Piece> = []
    /// Sound of a recording whose pictures have not begun.
    private var waiting: [SoundPacket] = []
    /// The position of the pictures.
    private var place = PictureClock.Place()
    /// The offset of the recording whose sound came last.
    private var offset = Duration.zero
    /// The time of the latest sound, as the file has it.
    private var latest: Duration?

    /// A step back by more begins another recording.
    private static let largestStepBack = Duration.milliseconds(100)
    /// After pictures of another recording, a larger step ahead begins that recording's sound.
    private static let largestStepAhead = Duration.seconds(1)
    /// The maximum number of waiting packets: more than a file has between a picture and its sound.
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
