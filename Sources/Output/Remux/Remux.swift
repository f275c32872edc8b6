import Bitstream
import Threading

/// A recorded raw stream on its way into a container, with its timestamp file or at a constant rate.
///
/// The stream is read twice, so that what is wrong with it or its times is told before anything is created:
/// first to count its pictures and to find out how they are reordered, then to write them. Memory is bounded,
/// whatever the files.
public final class Remux {
    /// The pictures that will be written.
    public let pictureCount: Int
    /// The pictures ahead of the first IDR picture, which are left out: nobody can decode them.
    public let undecodableCount: Int
    /// Times that are left over because the stream has fewer pictures.
    public let unusedTimestampCount: Int
    /// What the container will say of the stream.
    public let description: StreamDescription

    private let stream: RawStream
    private let timestamps: TimestampFile?

    /// Opens the inputs and reads them through.
    /// - Parameters:
    ///   - input: a raw H.264 or H.265 file.
    ///   - timestampFile: the times of its pictures; nil for pictures at a constant rate.
    ///   - frameRate: that rate; nil for what the stream says.
    public init(
        _ input: String, timestampFile: String? = nil, frameRate: NominalFrameRate? = nil
    ) throws(RemuxError) {
        do throws(InputError) {
            stream = try RawStream(path: input)
            timestamps = if let timestampFile { try TimestampFile(path: timestampFile) } else { nil }
        } catch { throw .input(error) }
        let survey = try StreamSurvey(of: stream)
        (pictureCount, undecodableCount) = (survey.pictureCount, survey.undecodableCount)
        var description = survey.description
        description.frameRate = frameRate ?? description.frameRate
        self.description = description
        guard let timestamps else {
            unusedTimestampCount = 0
            if description.frameRate == nil { throw .noFrameRate(input: input) }
            return
        }
        let (count, wanted) = (try Self.count(timestamps), pictureCount + undecodableCount)
        guard count >= wanted else {
            throw .tooFewTimestamps(file: timestamps.path, timestamps: count, pictures: wanted)
        }
        unusedTimestampCount = count - wanted
    }

    /// Writes the container.
    /// - Parameter interruption: ends the writing, at a picture that is whole.
    public func write(
        to output: String, format: ContainerFormat, overwrite: Bool, interruption: Interruption
    ) throws(RemuxError) {
        if let identity = FileIdentity(path: output) {
            for input in [stream.identity, timestamps?.identity] where input == identity {
                throw .output(OutputError(.usedTwice("an input"), output: output))
            }
        }
        let sink = try RemuxError.ofOutput { () throws(OutputError) in
            try ContainerSink(
                path: output, format: format, overwrite: overwrite, stream: description,
                interruption: interruption)
        }
        let written = try writePictures(to: sink, interruption: interruption)
        try RemuxError.ofOutput { () throws(OutputError) in try sink.finish() }
        if written < pictureCount { throw .interrupted(pictures: written, of: pictureCount) }
    }

    /// - Returns: how many pictures were written.
    private func writePictures(
        to sink: ContainerSink, interruption: Interruption
    ) throws(RemuxError) -> Int {
        var written = 0
        var queue = PictureQueue(reordering: description.reordering)
        try skipTimestamps(undecodableCount)
        try stream.forEachPicture(isOver: { interruption.isRaised }) { (picture) throws(RemuxError) in
            guard let picture else { return }
            try queue.append(picture, timestamp: timestamp)
            written += try write(&queue, to: sink)
            guard !queue.isOverfull else {
                throw .input(
                    InputError(.malformed("pictures are reordered too far"), input: stream.path))
            }
        }
        try queue.finish(timestamp: timestamp)
        return try written + write(&queue, to: sink)
    }

    /// Writes what is ready.
    /// - Returns: how many pictures that were.
    private func write(_ queue: inout PictureQueue, to sink: ContainerSink) throws(RemuxError) -> Int {
        var written = 0
        while let next = queue.next() {
            try RemuxError.ofOutput { () throws(OutputError) in
                try sink.write(next.unit, number: next.number, timestamp: next.timestamp)
            }
            written += 1
        }
        return written
    }

    /// The time of a picture, in nanoseconds. Called once for each, in presentation order.
    private func timestamp(_ number: Int) throws(RemuxError) -> Int64 {
        guard let timestamps else {
            return Int64(
                (Double(number) * 1e9 / (description.frameRate?.framesPerSecond ?? 1)).rounded())
        }
        guard let time = try RemuxError.ofInput({ () throws(InputError) in try timestamps.next() }) else {
            throw .input(InputError(.malformed("it has become shorter"), input: timestamps.path))
        }
        return time
    }

    private func skipTimestamps(_ count: Int) throws(RemuxError) {
        guard let timestamps else { return }
        try RemuxError.ofInput { () throws(InputError) in
            try timestamps.rewind()
            for _ in 0..<count { _ = try timestamps.next() }
        }
    }

    private static func count(_ timestamps: TimestampFile) throws(RemuxError) -> Int {
        try RemuxError.ofInput { () throws(InputError) in
            var count = 0
            while try timestamps.next() != nil { count += 1 }
            return count
        }
    }
}

extension RemuxError {
    fileprivate static func ofInput<Result>(
        _ body: () throws(InputError) -> Result
    ) throws(RemuxError) -> Result {
        do throws(InputError) { return try body() } catch { throw .input(error) }
    }

    fileprivate static func ofOutput<Result>(
        _ body: () throws(OutputError) -> Result
    ) throws(RemuxError) -> Result {
        do throws(OutputError) { return try body() } catch { throw .output(error) }
    }
}
