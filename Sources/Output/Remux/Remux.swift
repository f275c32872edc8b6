import Bitstream
import CamPlatform
import CamPictures

/// Converts a recording into another form and keeps each picture's time: from a container, or from a raw
/// stream with its timestamp file or at a constant rate. Nothing is re-encoded.
///
/// The recording is read twice, so that problems with it or its times are reported before anything is
/// created: first to count its pictures and to determine how they are reordered, then to write them; and once
/// more if only a part is wanted. Memory use is bounded, whatever the files, except for an MP4's index.
public final class Remux {
    /// What a raw stream needs in addition; unused if the input is a container.
    public struct Companions: Sendable {
        /// The file with the times of its pictures; nil for pictures at a constant rate.
        public var timestampFile: String?
        /// The frame rate; nil for the stream's own.
        public var frameRate: FrameRate?
        /// The decoder configuration record that belongs to an AVCC stream.
        public var record: String?

        /// Creates companions; by default none.
        public init(
            timestampFile: String? = nil, frameRate: FrameRate? = nil, record: String? = nil
        ) {
            (self.timestampFile, self.frameRate, self.record) = (timestampFile, frameRate, record)
        }
    }

    /// The pictures that will be written.
    public let pictureCount: Int
    /// The number of pictures before the first IDR picture, which are left out because they cannot be
    /// decoded.
    public let undecodableCount: Int
    /// The number of unused times, because the stream has fewer pictures.
    public let unusedTimestampCount: Int
    /// What the container will declare about the stream.
    public let description: StreamDescription
    /// What cannot be read at the recording's end, in words, and is left out; nil if there is nothing.
    public let brokenEnd: String?
    /// What else the file has that is not preserved, in words.
    private let omissions: [String]
    /// Where the recording is cut; nil if all of it is wanted.
    public let cut: RemuxCut?

    private let stream: any PictureStream
    private let timestamps: TimestampFile?

    /// Opens the inputs and reads them completely.
    /// - Parameters:
    ///   - input: a recording: a raw stream, as Annex B or AVCC, or a container.
    ///   - range: the part that is wanted.
    public init(
        _ input: String, _ companions: Companions = Companions(), range: RemuxRange = RemuxRange()
    ) throws(RemuxError) {
        stream = try Self.open(input, companions)
        timestamps = try companions.timestampFile.map { (path) throws(RemuxError) in
            try RemuxError.ofInput { () throws(InputError) in try TimestampFile(path: path) }
        }
        let survey = try StreamSurvey(of: stream, range)
        brokenEnd = stream.brokenEnd
        omissions =
            stream.remarks + [survey.soundRemark].compactMap(\.self) + stream.damage.compactMap(\.sentence)
        undecodableCount = survey.undecodableCount
        var description = survey.description
        description.frameRate = companions.frameRate ?? description.frameRate
        self.description = description
        if !stream.hasTimes, timestamps == nil, description.frameRate == nil {
            throw .noFrameRate(input: input)
        }
        let wanted = survey.pictureCount + survey.undecodableCount + survey.damagedCount
        unusedTimestampCount = try Self.unusedCount(timestamps, wanted)
        let source = TimedPictures(
            stream: stream, timestamps: timestamps, description: description,
            undecodableCount: survey.undecodableCount)
        cut = range == RemuxRange() ? nil : try source.cut(range)
        pictureCount = cut?.pictures.count ?? survey.pictureCount
    }

    /// Writes the recording in its new form.
    ///
    /// An MP4 file appears once it is complete, with its index at the front.
    /// - Parameter interruption: ends the writing after a complete picture.
    /// - Returns: the number of pictures whose time was not later than the previous picture's. In a container
    ///   they follow it by a tick, or by a frame's duration if the time goes back by more than four of those.
    @discardableResult
    public func write(
        to output: String, format: RemuxFormat, overwrite: Bool, interruption: Interruption
    ) throws(RemuxError) -> Int {
        if let identity = FileIdentity(path: output) {
            for input in [stream.identity, timestamps?.identity] where input == identity {
                throw .output(OutputError(.usedTwice("an input"), output: output))
            }
        }
        let sink = try makeSink(output, format, overwrite, interruption)
        var written = 0
        var steps = BackwardSteps()
        var sounds = RemuxInterleaver(cut)
        let source = TimedPictures(
            stream: stream, timestamps: timestamps, description: description,
            undecodableCount: undecodableCount)
        try source.forEach(
            isOver: { interruption.isRaised },
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

    /// What else is not preserved in a format, in words.
    public func remarks(for format: RemuxFormat) -> [String] {
        guard let sound = description.sound, !format.takes(sound.codec) else { return omissions }
        let places = sound.codec == .flac ? ".mkv or .mp4" : ".mkv, .mp4 or .ts"
        return ["the sound is left out; to keep it, name the output \(places)"] + omissions
    }

    /// Whether the pictures have times of their own, and need no rate.
    public var hasOwnTimes: Bool { stream.hasTimes }

    private static func open(
        _ input: String, _ companions: Companions
    ) throws(RemuxError) -> any PictureStream {
        try RemuxError.ofInput { () throws(InputError) -> any PictureStream in
            let record = try companions.record.map { (path) throws(InputError) in
                try DecoderConfigurationRecord(path: path)
            }
            if record == nil, case .container? = try InputFile(path: input).kind() {
                guard companions.timestampFile == nil, companions.frameRate == nil else {
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
        _ output: String, _ format: RemuxFormat, _ overwrite: Bool, _ interruption: Interruption
    ) throws(RemuxError) -> RemuxSink {
        switch format {
        case .raw(let codec):
            guard codec == stream.codec else { throw .otherCodec(output: output, is: stream.codec) }
            return try RemuxError.ofOutput { () throws(OutputError) in
                .raw(try FileSink(path: output, overwrite: overwrite, interruption: interruption))
            }
        case .container(let format):
            var description = description
            description.sound = description.sound.flatMap { format.takes($0.codec) ? $0 : nil }
            return try RemuxError.ofOutput { () throws(OutputError) in
                .container(
                    try ContainerSink(
                        path: output, format: format, overwrite: overwrite, stream: description,
                        metadata: stream.metadata, captureClock: stream.metadata.start.map(RecordedTime.init),
                        interruption: interruption, isFinished: true))
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
    /// When that picture was captured.
    let wallTime: WallTime

    init(_ start: WallTime) { wallTime = start }
}
