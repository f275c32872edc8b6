import Output
import Sound
import Time

/// A file's sound, which is read besides the pictures, so that neither waits for the other.
final class FileSound: SoundFeed {
    private let reader: ContainerReader
    private let presentation: Presentation
    /// A packet whose description was returned first.
    private var pending: SoundPacket?
    private var hasBegun = false
    /// Sound that is due earlier is left out.
    private var beginning = Duration.zero

    /// - Parameters:
    ///   - reader: a reader of the file with sound, for this purpose alone.
    ///   - presentation: knows when pictures are due.
    init(_ reader: ContainerReader, with presentation: Presentation) {
        (self.reader, self.presentation) = (reader, presentation)
    }

    func next(isOver: () -> Bool) -> SoundFeedItem? {
        guard let packet = pending.take() ?? nextPacket(isOver) else { return nil }
        guard !hasBegun, let description = reader.sound else { return .packet(packet) }
        (hasBegun, pending) = (true, packet)
        return .begins(description)
    }

    func seek(to time: Duration) {
        (pending, hasBegun, beginning) = (nil, false, time)
        // The pictures' reader reports what is wrong.
        try? reader.seek(to: time)
    }

    func moment(of time: Duration) -> Instant? { presentation.moment(of: time) }

    private func nextPacket(_ isOver: () -> Bool) -> SoundPacket? {
        // An error is the end here, too.
        while let packet = try? reader.next() {
            if let sound = packet.sound, sound.end > .start + beginning { return sound }
            if isOver() { break }
        }
        return nil
    }
}
