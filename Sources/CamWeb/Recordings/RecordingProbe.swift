import CamPlatform
import Glibc
import Output

/// What a look into a recording reveals.
struct RecordingProbe: Hashable, Sendable {
    /// When the first picture was captured, and when the last one ended.
    let time: Range<WallTime>
    /// Whether a recorder was writing it.
    let isGrowing: Bool

    /// More than any recording lasts.
    private static let longest = Duration.seconds(31 * 86400)
    /// How long it may take to find a file's end.
    private static let patience = Duration.seconds(2)

    /// Looks into a recording.
    ///
    /// Matroska and MP4 say when they begin. Of other files the end is known, which is when they were last written.
    init(_ file: RecordingFile, open recording: OpenRecording) throws(RemuxError) {
        isGrowing = recording.isGrowing
        let reader = try RecordingReader(descriptor: recording.descriptor, name: file.name)
        let start = reader.metadata.start
        // The end of a file that grows moves on anyway.
        if isGrowing, let start = start ?? recording.birth, start < file.modification,
            file.modification - start < Self.longest
        {
            time = start..<file.modification
        } else if let start {
            time = start..<start + max(.milliseconds(1), try Self.length(reader, file))
        } else if !reader.hasTimes, let birth = recording.birth, birth < file.modification,
            file.modification - birth < Self.longest
        {
            // A raw stream would have to be read completely.
            time = birth..<file.modification
        } else {
            time = file.modification - (try Self.length(reader, file))..<file.modification
        }
    }

    private static func length(
        _ reader: RecordingReader, _ file: RecordingFile
    ) throws(RemuxError) -> Duration {
        let deadline = Instant.now + patience
        guard let length = try reader.length(isOver: { Instant.now >= deadline }) else {
            let problem =
                "finding its end takes too long; camrec remux makes an .mkv of it, which has an index"
            throw .input(InputError(.malformed(problem), input: file.name))
        }
        return length
    }
}
