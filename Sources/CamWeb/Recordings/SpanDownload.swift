import CamPlatform
import CamSound
import CamStorage
import Containers
import Glibc

/// Copies everything recorded in a range of time into one finished MP4, which one thread makes and others send.
///
/// The MP4 is first written to a file without a name, because the index at its front is known last.
final class SpanJob: @unchecked Sendable {
    // Safe to share: the monitor's lock protects what changes; the copy belongs to the thread that makes it.
    let time: Range<WallTime>
    /// Identifies the recordings that it is made of, and the time.
    let tag: String
    private let camera: String
    private let catalog: RecordingCatalog
    private let scratchFolder: String
    private let segments: [Segment]
    private let monitor = Monitor()
    private var sinks: [ResponseSink] = []
    private var made: (file: UnnamedFile, start: WallTime)?
    private var part: Int?
    private var place: Int?
    private var used = Instant.now
    private var gaps: (count: Int, length: Duration)
    /// Whether making it has ended, and why it failed; protected by the store.
    var isOver = false
    var refusal: Refusal?

    /// How long finding the recordings may take.
    private static let longestSearch = Duration.seconds(60)
    /// How long a browser waits for the headers alone.
    private static let shortestSearch = Duration.milliseconds(250)
    /// The most recordings of a download: half a year of ten an hour.
    private static let mostSegments = 50_000
    /// The bytes that stay free on the disk.
    private static let reserve = 256 << 20
    /// The space of an MP4 besides its content: some 50 bytes for each picture and each packet of sound.
    private static let leastOverhead = 16 << 20
    /// Pauses between two recordings up to this are no gaps.
    private static let pause = Duration.seconds(1)

    /// Finds what was recorded.
    /// - Parameter isMade: whether the MP4 is going to be made; its state alone must not take long.
    init(
        _ time: Range<WallTime>, _ request: RecordingRequest, scratchFolder: String, isMade: Bool
    ) throws(Refusal) {
        (self.time, self.scratchFolder) = (time, scratchFolder)
        (camera, catalog) = (request.camera, request.catalog)
        let patience = isMade ? Self.longestSearch : Self.shortestSearch
        let listing = Self.listing(time, request, patience: patience)
        guard listing.isComplete else { throw .notListed }
        guard listing.runs == nil else { throw .tooMany }
        guard !listing.segments.isEmpty else { throw .nothingRecorded }
        segments = listing.segments
        tag = Self.tag(of: listing.segments, time)
        gaps = Self.gaps(between: segments, in: time)
    }

    private static func listing(
        _ time: Range<WallTime>, _ request: RecordingRequest, patience: Duration
    ) -> RecordingCatalog.Listing {
        request.catalog.list(time, most: mostSegments, until: .now + patience)
    }

    /// The same recordings give the same MP4.
    private static func tag(of segments: [Segment], _ time: Range<WallTime>) -> String {
        var hash = StableHash()
        func mix(_ number: Int64) { hash.mix(UInt64(bitPattern: number)) }
        mix(time.lowerBound.nanoseconds)
        mix(time.upperBound.nanoseconds)
        for segment in segments {
            hash.mix(segment.id)
            mix(Int64(segment.file.size))
            mix(segment.file.modification.nanoseconds)
        }
        return "\"\(hash.text)\""
    }

    /// The gaps between recordings in a time. What lies ahead is none, nor is what a recorder has not written yet.
    static func gaps(
        between segments: [Segment], in time: Range<WallTime>, now: WallTime = .now
    ) -> (count: Int, length: Duration) {
        var (end, gaps) = (time.lowerBound, (count: 0, length: Duration.zero))
        func note(_ begin: WallTime) {
            guard begin - end > pause else { return }
            gaps = (gaps.count + 1, gaps.length + (begin - end))
        }
        for segment in segments {
            note(segment.time.lowerBound)
            end = max(end, segment.time.upperBound)
        }
        if segments.last?.probe.isGrowing != true { note(min(time.upperBound, now)) }
        return gaps
    }

    /// Whether the recordings of its time are still the same.
    func isCurrent(for request: RecordingRequest) -> Bool {
        guard monitor.withLock({ made != nil }) else { return true }
        let listing = Self.listing(time, request, patience: Self.shortestSearch)
        return !listing.isComplete || Self.tag(of: listing.segments, time) == tag
    }

    // MARK: Who wants it

    func add(_ sink: ResponseSink) {
        monitor.withLock {
            sinks.removeAll { $0.isGone }
            sinks.append(sink)
            used = .now
        }
    }

    /// Whether a browser waits for it, or receives it.
    var isWanted: Bool {
        monitor.withLock {
            let isWanted = sinks.contains { !$0.isGone }
            if isWanted { used = .now }
            return isWanted
        }
    }

    /// When a browser last wanted it, more or less.
    var lastUse: Instant { monitor.withLock { used } }

    var isMade: Bool { monitor.withLock { made != nil } }

    /// The number of downloads that are made first.
    var position: Int {
        get { monitor.withLock { place ?? 0 } }
        set { monitor.withLock { place = newValue } }
    }

    var state: SpanState {
        let bytes = size
        return monitor.withLock {
            SpanState(
                position: part == nil && made == nil ? place : nil, made: made == nil ? part : nil,
                isMade: made != nil, bytes: made?.file.count ?? bytes, holes: gaps.count,
                missing: gaps.length.inNanoseconds / 1_000_000)
        }
    }

    /// The finished MP4; nil until it is made.
    var content: (file: UnnamedFile, start: WallTime)? { monitor.withLock { made } }

    /// The name of the file for the browser.
    var fileName: String {
        let start = content?.start ?? max(time.lowerBound, segments.first?.time.lowerBound ?? time.lowerBound)
        let name = FileNamePattern("%Y-%m-%d-%H%M%S", expandsTime: true).name(at: start)
        return "\(camera)-\(name).mp4"
    }

    // MARK: Making it

    /// Makes the MP4. Used by one thread.
    func make() throws(Refusal) {
        let limit = try limit()
        var copy: Copy?
        do throws(RemuxError) {
            let file = try RemuxError.ofOutput { () throws(OutputError) in
                try UnnamedFile(in: scratchFolder, limit: limit)
            }
            for (index, segment) in segments.enumerated() where isWanted {
                monitor.withLock { part = index * 1000 / segments.count }
                try add(segment, to: &copy, file)
            }
            guard isWanted else { return }
            try RemuxError.ofOutput { () throws(OutputError) in try copy?.clip.finish() }
            guard let copy else { throw Self.nothing(camera) }
            monitor.withLock { made = (file, copy.start) }
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

    private func add(_ segment: Segment, to copy: inout Copy?, _ file: UnnamedFile) throws(RemuxError) {
        // A recording that was removed since, or that cannot be read now, leaves a gap.
        guard let recording = try? catalog.open(segment.id).recording,
            let reader = try? RecordingReader(descriptor: recording.descriptor, name: segment.file.name)
        else { return noteGap(segment) }
        guard let part = try part(of: segment, reader) else { return }
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
        try reader.read(part, isOver: { !isWanted }) { (item) throws(RemuxError) in
            if case .sound = item, own.sound != other.sound { return }
            try RemuxError.ofOutput { () throws(OutputError) in try begun.clip.write(item) }
        }
    }

    private func noteGap(_ segment: Segment) {
        let common = segment.time.clamped(to: time)
        monitor.withLock { gaps = (gaps.count + 1, gaps.length + (common.upperBound - common.lowerBound)) }
    }

    /// - Returns: nil if the segment has no keyframe in that time.
    private func part(
        of segment: Segment, _ reader: RecordingReader
    ) throws(RemuxError) -> RecordingReader.Part? {
        let begin = segment.time.lowerBound
        if time.lowerBound <= begin, time.upperBound >= segment.time.upperBound {
            return RecordingReader.Part(start: .zero)
        }
        return try reader.part(
            from: max(.zero, time.lowerBound - begin), until: time.upperBound - begin,
            isOver: { !isWanted })
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

    /// The bytes of the recordings, of which a partly used one counts as a whole.
    private var size: Int {
        segments.reduce(0) { $0.addingSaturated($1.file.size) }
    }

    /// The maximum size of the copy, in bytes.
    private func limit() throws(Refusal) -> Int {
        let total = size
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
