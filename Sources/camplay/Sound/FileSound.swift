import Bitstream
import Output
import CamPictures
import CamSound
import CamPlatform

/// A file's sound, which is read besides the pictures, so that neither waits for the other.
final class FileSound: SoundFeed {
    private let reader: ContainerReader
    private let presentation: Presentation
    /// What the packets are that were returned last.
    private var current: SoundDescription?
    /// A packet whose description was returned first.
    private var pending: SoundPacket?
    /// Sound that is due earlier is left out.
    private var beginning = Duration.zero
    /// The sound that was read, and where its recording is on the pictures' clock.
    private var joined = JoinedSound()
    /// Whether pictures are left out up to the next keyframe, because of damage: no time passes for them.
    private var isDamaged = false
    /// Added to the time of the packet that was returned last, gives the pictures' clock.
    private var offset = Duration.zero

    /// How far ahead of the pictures the file is searched for sound.
    private static let lead = Duration.seconds(5)

    /// - Parameters:
    ///   - reader: a reader of the file with sound, for this purpose alone.
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
            // What is no parameter set, or cannot be read, says nothing about the rate.
            _ = try? parameterSets.insert(bytes.span.bytes.extracting(unit.bytes))
        }
        return PictureClock.frameDuration(at: StreamDescription(parameterSets)?.frameRate)
    }

    /// When to go on, if the latest picture is far ahead of those that are shown: where there is no sound, the file need not
    /// be read to its end.
    private func wait() -> Instant? {
        let time = joined.pictureTime
        guard time > beginning + Self.lead else { return nil }
        guard let moment = presentation.moment(of: time) else { return .distantFuture }
        return moment - Self.lead > .now ? moment - Self.lead : nil
    }
}
