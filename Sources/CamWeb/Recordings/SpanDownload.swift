import CamPlatform
import CamSound
import CamStorage
import Containers

/// Copies everything recorded in a range of time into one finished MP4, and sends it. Used by one thread.
///
/// The MP4 is first written to a file without a name, because the index at its front is known last.
struct SpanDownload {
    private let response: RecordingResponse
    private let scratchFolder: String

    /// How long finding the recordings may take.
    private static let longestSearch = Duration.seconds(60)
    /// The bytes that stay free on the disk.
    private static let reserve = 256 << 20
    /// The space of an MP4 besides its content: some 50 bytes for each picture and each packet of sound.
    private static let leastOverhead = 16 << 20

    init(_ response: RecordingResponse, scratchFolder: String) {
        (self.response, self.scratchFolder) = (response, scratchFolder)
    }

    /// Makes and sends the MP4.
    func send(_ time: Range<WallTime>) throws(Refusal) {
        let segments = response.request.catalog.list(time, until: .now + Self.longestSearch).segments
        let limit = try limit(segments)
        var copy: Copy?
        do throws(RemuxError) {
            let file = try RemuxError.ofOutput { () throws(OutputError) in
                try UnnamedFile(in: scratchFolder, limit: limit)
            }
            for segment in segments where !response.isGone { try add(segment, time, to: &copy, file) }
            try RemuxError.ofOutput { () throws(OutputError) in try copy?.clip.finish() }
            guard let copy else { throw Self.nothing(response.request.camera) }
            send(file, from: copy.start)
        } catch { throw .notCopied(error) }
    }

    /// A copy that has begun.
    private struct Copy {
        let clip: ClipWriter
        let description: StreamDescription
        /// The beginning of the first segment, and the capture time of the first picture copied.
        let origin: WallTime
        let start: WallTime
    }

    private func add(
        _ segment: Segment, _ time: Range<WallTime>, to copy: inout Copy?, _ file: UnnamedFile
    ) throws(RemuxError) {
        // A recording that was removed since leaves a gap.
        guard let recording = try? response.request.catalog.open(segment.id).recording else { return }
        let reader = try RecordingReader(descriptor: recording.descriptor, name: segment.file.name)
        guard let part = try part(of: segment, reader, time) else { return }
        let begun: Copy
        if let copy { begun = copy } else { begun = try begin(segment, reader, part, file) }
        copy = begun
        let (own, other) = (reader.description, begun.description)
        guard (own.codec, own.width, own.height) == (other.codec, other.width, other.height) else {
            throw .input(
                InputError(
                    .malformed(
                        "its codec or picture size is another one; download the time before and after it"),
                    input: segment.file.name))
        }
        begun.clip.beginPart(shiftedBy: segment.time.lowerBound - begun.origin)
        try reader.read(part, isOver: { response.isGone }) { (item) throws(RemuxError) in
            if case .sound = item, own.sound != other.sound { return }
            try RemuxError.ofOutput { () throws(OutputError) in try begun.clip.write(item) }
        }
    }

    /// - Returns: nil if the segment has no keyframe in that time.
    private func part(
        of segment: Segment, _ reader: RecordingReader, _ time: Range<WallTime>
    ) throws(RemuxError) -> RecordingReader.Part? {
        let begin = segment.time.lowerBound
        if time.lowerBound <= begin, time.upperBound >= segment.time.upperBound {
            return RecordingReader.Part(start: .zero)
        }
        return try reader.part(
            from: max(.zero, time.lowerBound - begin), until: time.upperBound - begin,
            isOver: { response.isGone })
    }

    private func begin(
        _ segment: Segment, _ reader: RecordingReader, _ part: RecordingReader.Part, _ file: UnnamedFile
    ) throws(RemuxError) -> Copy {
        let start = segment.time.lowerBound + part.start
        var metadata = reader.metadata
        metadata.start = start
        let clip = try RemuxError.ofOutput { [metadata] () throws(OutputError) in
            try ClipWriter(finishing: reader.description, metadata: metadata, in: file)
        }
        return Copy(
            clip: clip, description: reader.description, origin: segment.time.lowerBound, start: start)
    }

    private func send(_ file: UnnamedFile, from start: WallTime) {
        guard !response.isGone else { return }
        let name = FileNamePattern("%Y-%m-%d-%H%M%S", expandsTime: true).name(at: start)
        var headers = response.headers(type: "video/mp4")
        headers.add(
            name: "Content-Disposition",
            value: RecordingResponse.attachment("\(response.request.camera)-\(name).mp4"))
        response.send(file.descriptor, 0..<file.count, headers)
    }

    /// The maximum size of the copy, in bytes.
    private func limit(_ segments: [Segment]) throws(Refusal) -> Int {
        let total = segments.reduce(0) { $0.addingSaturated($1.file.size) }
        guard total > 0 else { throw .nothingRecorded }
        let limit = total.addingSaturated(total / 4).addingSaturated(Self.leastOverhead)
        guard let free = Volume.space(of: scratchFolder)?.free else { throw .noScratch(scratchFolder) }
        guard limit <= free - Self.reserve else { throw .noRoom(for: limit, in: scratchFolder) }
        return limit
    }

    private static func nothing(_ camera: String) -> RemuxError {
        .input(InputError(.malformed("nothing that can be copied was recorded then"), input: camera))
    }
}
