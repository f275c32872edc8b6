import Bitstream
import CamPictures
import CamPlatform
import CamSound

/// Converts a recording into another form and keeps each picture's time: from a container, or from a raw
/// stream with its timestamp file, with the capture times in it, or at a constant rate. Nothing is re-encoded.
///
/// The recording is read twice, so that problems with it or its times are reported before anything is
/// created: first to count its pictures and to determine how they are reordered, then to write them; and once
/// more if only a part is wanted. Memory use is bounded, whatever the files, except for an MP4's index.
public final class Remux {
    /// Additional inputs of a raw stream; unused for a container.
    public struct SidecarFiles: Sendable {
        /// The file with the times of its pictures; nil for pictures at a constant rate.
        public var timestampFile: String?
        /// The frame rate; nil for the stream's own.
        public var frameRate: FrameRate?
        /// The decoder configuration record that belongs to an AVCC stream.
        public var record: String?

        /// Creates a set of additional inputs; by default empty.
        public init(
            timestampFile: String? = nil, frameRate: FrameRate? = nil, record: String? = nil
        ) {
            (self.timestampFile, self.frameRate, self.record) = (timestampFile, frameRate, record)
        }
    }

    /// The number of pictures to be written.
    public let pictureCount: Int
    /// The number of pictures before the first IDR picture, which are left out because they cannot be
    /// decoded.
    public let undecodableCount: Int
    /// The number of unused times, because the stream has fewer pictures.
    public let unusedTimestampCount: Int
    /// What the container will declare about the stream.
    public let description: StreamDescription
    /// The unreadable end of the recording, in words, which is left out; nil if there is none.
    public let brokenEnd: String?
    /// Whether pictures are lost to damage in the recording, or at its end if that is wanted.
    public var losesPictures: Bool {
        stream.damage.contains { $0.sentence != nil } || brokenEnd != nil && cut?.end == nil
    }
    /// Other content of the file that is not preserved, in words.
    private let omissions: [String]
    /// Where the recording is cut; nil for the whole recording.
    public let cut: RemuxCut?

    private let stream: any PictureStream
    private let timestamps: TimestampFile?
    /// The capture time of the first picture, if those in the stream are used.
    private let captureStart: WallTime?

    /// Opens the inputs and reads them completely.
    /// - Parameters:
    ///   - input: a recording: a raw stream, as Annex B or AVCC, or a container.
    ///   - range: the requested part.
    public init(
        _ input: String, _ sidecars: SidecarFiles = SidecarFiles(), range: RemuxRange = RemuxRange()
    ) throws(RemuxError) {
        stream = try Self.open(input, sidecars)
        timestamps = try sidecars.timestampFile.map { (path) throws(RemuxError) in
            try RemuxError.ofInput { () throws(InputError) in try TimestampFile(path: path) }
        }
        let survey = try StreamSurvey(of: stream, range)
        brokenEnd = stream.brokenEnd
        omissions =
            stream.remarks + [survey.soundRemark].compactMap(\.self) + stream.damage.compactMap(\.sentence)
        undecodableCount = survey.undecodableCount
        var description = survey.description
        description.frameRate = sidecars.frameRate ?? description.frameRate
        self.description = description
        captureStart =
            stream.hasTimes || timestamps != nil || sidecars.frameRate != nil ? nil : survey.captureStart
        if !stream.hasTimes, timestamps == nil, captureStart == nil, description.frameRate == nil {
            throw .noFrameRate(input: input)
        }
        let wanted = survey.pictureCount + survey.undecodableCount + survey.damagedCount
        unusedTimestampCount = try Self.unusedCount(timestamps, wanted)
        let source = TimedPictures(
            stream: stream, timestamps: timestamps, captureStart: captureStart, description: description,
            undecodableCount: survey.undecodableCount)
        cut = range == RemuxRange() ? nil : try source.cut(range)
        pictureCount = cut?.pictures.count ?? survey.pictureCount
    }

    /// Writes the recording in its new form.
    ///
    /// An MP4 file appears once it is complete, with its index at the front.
    /// - Parameter cancellation: ends the writing after a complete picture.
    /// - Returns: the number of pictures whose time was not later than the previous picture's. In a container
    ///   they follow it by a tick, or by a frame's duration if the time goes back by more than four of those.
    @discardableResult
    public func write(
        to output: String, format: RemuxFormat, overwrite: Bool, cancellation: CancellationFlag
    ) throws(RemuxError) -> Int {
        if let identity = FileIdentity(path: output) {
            for input in [stream.identity, timestamps?.identity] where input == identity {
                throw .output(OutputError(.usedTwice("an input"), output: output))
            }
        }
        let sink = try makeSink(output, format, overwrite, cancellation)
        var written = 0
        var steps = BackwardSteps()
        var sounds = RemuxInterleaver(cut)
        let source = TimedPictures(
            stream: stream, timestamps: timestamps, captureStart: captureStart, description: description,
            undecodableCount: undecodableCount)
        try source.forEach(
            isOver: { cancellation.isRaised },
            sound: { if stream.sound == description.sound { sounds.append($0) } }
        ) {
            (picture, index) throws(RemuxError) in
            sounds.note(picture.time, isIDR: picture.unit.isIDR)
            try RemuxError.ofOutput { () throws(OutputError) in
                while let sound = sounds.next() { try sink.write(sound) }
            }
            guard cut?.pictures.contains(index) ?? true else { return }
            try RemuxError.ofOutput { () throws(OutputError) in try sink.write(picture) }
            written += 1
            steps.note(number: picture.number, time: picture.time)
        }
        try RemuxError.ofOutput { () throws(OutputError) in
            while let sound = sounds.rest() { try sink.write(sound) }
            try sink.finish()
        }
        if written < pictureCount { throw .interrupted(pictures: written, of: pictureCount) }
        if case .raw = format { return 0 }
        return steps.count
    }

    /// The content that is not preserved in a format, in words.
    public func remarks(for format: RemuxFormat) -> [String] {
        guard let sound = description.sound, !format.takes(sound.codec) else { return omissions }
        let places = sound.codec == .flac ? ".mkv or .mp4" : ".mkv, .mp4 or .ts"
        return ["the sound is left out; to keep it, name the output \(places)"] + omissions
    }

    /// Whether the recording has a time for each picture, and needs no frame rate.
    public var hasOwnTimes: Bool { stream.hasTimes || usesCaptureTimes }

    /// Whether the times are those at which the pictures of a raw stream state that they were captured.
    public var usesCaptureTimes: Bool { captureStart != nil }

    /// The recording's metadata; a raw stream has none but what its pictures state.
    private var metadata: FileMetadata {
        var metadata = stream.metadata
        metadata.start = metadata.start ?? captureStart
        return metadata
    }

    private static func open(
        _ input: String, _ sidecars: SidecarFiles
    ) throws(RemuxError) -> any PictureStream {
        try RemuxError.ofInput { () throws(InputError) -> any PictureStream in
            let record = try sidecars.record.map { (path) throws(InputError) in
                try DecoderConfigurationRecord(path: path)
            }
            if record == nil, case .container? = try InputFile(path: input).kind() {
                guard sidecars.timestampFile == nil, sidecars.frameRate == nil else {
                    throw InputError(
                        .contradiction("its pictures have times; leave out --timestamps and --fps"),
                        input: input)
                }
                return try ContainerStream(path: input)
            }
            return try RawStream(path: input, record: record)
        }
    }

    private func makeSink(
        _ output: String, _ format: RemuxFormat, _ overwrite: Bool, _ cancellation: CancellationFlag
    ) throws(RemuxError) -> RemuxSink {
        switch format {
        case .raw(let codec):
            guard codec == stream.codec else { throw .otherCodec(output: output, is: stream.codec) }
            return try RemuxError.ofOutput { () throws(OutputError) in
                .raw(try FileSink(path: output, overwrite: overwrite, cancellation: cancellation))
            }
        case .container(let format):
            var description = description
            description.sound = description.sound.flatMap { format.takes($0.codec) ? $0 : nil }
            return try RemuxError.ofOutput { () throws(OutputError) in
                .container(
                    try ContainerSink(
                        path: output, format: format, overwrite: overwrite, stream: description,
                        metadata: metadata, captureClock: metadata.start.map(RecordedTime.init),
                        cancellation: cancellation, isFinished: true))
            }
        }
    }

    private static func unusedCount(_ timestamps: TimestampFile?, _ wanted: Int) throws(RemuxError) -> Int {
        guard let timestamps else { return 0 }
        let count = try RemuxError.ofInput { () throws(InputError) in
            var count = 0
            while try timestamps.next() != nil { count += 1 }
            return count
        }
        guard count >= wanted else {
            throw .tooFewTimestamps(file: timestamps.path, timestamps: count, pictures: wanted)
        }
        return count - wanted
    }
}

/// The clocks of a recording whose first picture is at `Instant.start`.
private struct RecordedTime: TimeSource {
    let now = Instant.start
    let suspendedTime = Duration.zero
    /// The capture time of the first picture.
    let wallTime: WallTime

    init(_ start: WallTime) { wallTime = start }
}

// MARK: - Parts

/// The part of a recording that a remux takes, by the time from its first picture.
public struct RemuxRange: Sendable, Equatable {
    /// The part begins at the last keyframe at or before this time.
    public var start: Duration?
    /// The part ends before the first keyframe at or after this time.
    public var end: Duration?

    /// Creates a range; without limits, the whole recording.
    public init(start: Duration? = nil, end: Duration? = nil) { (self.start, self.end) = (start, end) }
}

/// Where a recording is cut: at keyframes, because a picture may depend on all
/// pictures since the last keyframe.
public struct RemuxCut: Sendable, Equatable {
    /// The first picture's time, from the recording's first.
    public private(set) var start = Duration.zero
    /// The time of the keyframe that comes after the last picture; nil at the recording's end.
    public private(set) var end: Duration?
    /// The pictures of the part, by their places in decoding order.
    package private(set) var pictures: Range<Int>

    /// The latest time so far.
    package private(set) var latest = Duration.zero
    private let range: RemuxRange

    /// Creates a cut that has seen no picture yet.
    init(_ range: RemuxRange) {
        self.range = range
        pictures = 0..<0
    }

    /// Notes the next picture in decoding order.
    package mutating func note(isKeyframe: Bool, time: Duration, index: Int) {
        latest = max(latest, time)
        guard end == nil else { return }
        if isKeyframe, let limit = range.end, time >= limit, index > pictures.lowerBound {
            end = time
            return
        }
        if isKeyframe, let limit = range.start, time <= limit {
            start = time
            pictures = index..<index + 1
        } else {
            pictures = pictures.lowerBound..<index + 1
        }
    }
}

// MARK: - Destinations

/// The destination of a remux.
enum RemuxSink {
    case container(ContainerSink)
    case raw(FileSink)

    func write(_ picture: PictureQueue.Timed) throws(OutputError) {
        switch self {
        case .container(let sink):
            try sink.write(picture.unit, number: picture.number, timestamp: .start + picture.time)
        case .raw(let sink): try sink.write(picture.unit)
        }
    }

    func write(_ sound: SoundPacket) throws(OutputError) {
        if case .container(let sink) = self, sink.takesSound { try sink.write(sound) }
    }

    func finish() throws(OutputError) {
        switch self {
        case .container(let sink): try sink.finish()
        case .raw(let sink): try sink.finish()
        }
    }
}

/// The format that a remux writes.
public enum RemuxFormat: Sendable, Equatable {
    case container(ContainerFormat)
    /// NAL units with start codes, without times.
    case raw(Codec)

    /// The format that a file's name implies; nil for any other name.
    public init?(path: String) {
        if let format = ContainerFormat(path: path) {
            self = .container(format)
        } else if let codec = Codec(fileName: path) {
            self = .raw(codec)
        } else {
            return nil
        }
    }

    /// Whether it can contain sound that is coded in this way.
    public func takes(_ codec: SoundCodec) -> Bool {
        if case .container(let format) = self { format.takes(codec) } else { false }
    }
}

// MARK: - Times that go back

/// Counts the pictures whose time is not later than the time of the previously presented picture, which no
/// container allows.
struct BackwardSteps {
    /// The number of such pictures so far.
    private(set) var count = 0
    /// The latest pictures, in decoding order.
    private var recent: [(number: Int, time: Duration)] = []

    /// Takes the next picture in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - time: when it is shown, on any clock.
    mutating func note(number: Int, time: Duration) {
        for other in recent {
            if other.number == number - 1, other.time >= time { count += 1 }
            if other.number == number + 1, other.time <= time { count += 1 }
        }
        recent.append((number, time))
        if recent.count > PictureQueue.limit { recent.removeFirst() }
    }
}

// MARK: - Errors

/// Why a recording could not be remuxed. `description` is one line: thing, cause, next step.
public enum RemuxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The input cannot be read, or has the wrong content.
    case input(InputError)
    /// The output cannot be written.
    case output(OutputError)
    /// The pictures have no times.
    case noFrameRate(input: String)
    /// The output's name implies another codec than the stream's.
    case otherCodec(output: String, is: Codec)
    /// The requested part begins after the recording's end.
    case beyondEnd(input: String, lastPicture: Duration)
    /// The timestamp file belongs to another recording.
    case tooFewTimestamps(file: String, timestamps: Int, pictures: Int)
    /// Interrupted before the end.
    case interrupted(pictures: Int, of: Int)

    public var description: String {
        switch self {
        case .input(let error): error.description
        case .output(let error): error.description
        case .noFrameRate(let input):
            "\(input) does not state a frame rate; add --timestamps or --fps"
        case .otherCodec(let output, let codec):
            "\(output): the stream is \(codec); name it \(codec == .h264 ? ".h264" : ".h265")"
        case .beyondEnd(let input, let time):
            "\(input): its last picture is at \(time.inSeconds) s; give an earlier --from"
        case .tooFewTimestamps(let file, let timestamps, let pictures):
            "\(file) has \(timestamps) times for \(pictures) pictures; is it this recording's?"
        case .interrupted(let pictures, let total):
            "stopped after \(pictures) of \(total) pictures; the output plays up to there"
        }
    }
}

extension RemuxError {
    /// Runs code that reads, and converts its errors.
    static func ofInput<Result>(
        _ body: () throws(InputError) -> Result
    ) throws(RemuxError) -> Result {
        do throws(InputError) { return try body() } catch { throw .input(error) }
    }

    /// Runs code that writes, and converts its errors.
    public static func ofOutput<Result>(
        _ body: () throws(OutputError) -> Result
    ) throws(RemuxError) -> Result {
        do throws(OutputError) { return try body() } catch { throw .output(error) }
    }
}
