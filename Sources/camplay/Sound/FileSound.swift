import Output
import Sound
import Time

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
    /// The end of the latest sound, and what is added to its time: times start over if recordings follow each other.
    private var (end, offset) = (Duration.zero, Duration.zero)

    /// A step back by more is no reordering.
    private static let largestStepBack = Duration.seconds(1)
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
        // An error is the end here, too: the pictures' reader reports it.
        while let packet = try? reader.next() {
            if let sound = packet.sound {
                note(sound)
                if sound.end > .start + beginning { return item(sound) }
            } else if let time = packet.time, let wait = wait(for: time) {
                return .later(wait)
            }
            if isOver() { break }
        }
        return nil
    }

    func seek(to time: Duration) {
        (pending, current, beginning, end, offset) = (nil, nil, time, time, .zero)
        try? reader.seek(to: time)
    }

    func moment(of time: Duration) -> Instant? { presentation.moment(of: time + offset) }

    private func item(_ packet: SoundPacket) -> SoundFeedItem {
        guard let description = reader.sound, description != current else { return .packet(packet) }
        (current, pending) = (description, packet)
        return .begins(description)
    }

    private func note(_ packet: SoundPacket) {
        let time = packet.timestamp - .start
        if time < end - Self.largestStepBack { offset += end - time }
        end = packet.end - .start
    }

    /// When to go on, if a picture is far ahead of those that are shown: where there is no sound, the file need not be read
    /// to its end.
    private func wait(for time: Duration) -> Instant? {
        guard time > beginning + Self.lead else { return nil }
        guard let moment = presentation.moment(of: time + offset) else { return .distantFuture }
        return moment - Self.lead > .now ? moment - Self.lead : nil
    }
}
