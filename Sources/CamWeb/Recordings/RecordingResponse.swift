import Bitstream
import CamNetworking
import CamPlatform
import CamSound
import Glibc
import NIOCore
import NIOHTTP1
import Containers

/// Makes a response from the recordings of a camera. Used by one thread.
final class RecordingResponse {
    let request: RecordingRequest
    private let sink: ResponseSink
    private var hasBegun = false

    /// How long a list waits for files to be examined; the next list has what is missing.
    private static let longestSearch = Duration.milliseconds(250)
    private static let chunkLength = 64 << 10

    init(_ request: RecordingRequest, _ sink: ResponseSink) { (self.request, self.sink) = (request, sink) }

    /// Whether the browser no longer waits for the response.
    var isGone: Bool { sink.isGone }

    /// A response that is made as a whole before it is sent.
    struct Made {
        let bytes: ByteBuffer
        let headers: HTTPHeaders
    }

    /// Makes the list of recordings.
    func madeList(_ time: Range<WallTime>) -> Made {
        let listing = request.catalog.list(time, until: .now + Self.longestSearch)
        let list = SegmentList(
            listing, areEvents: request.catalog.areEvents, seesDetails: request.rights.seesDetails, now: .now)
        return Made(
            bytes: ByteBuffer(string: JSON.text(of: list)), headers: headers(type: "application/json"))
    }

    /// Sends the state of a download.
    func state(_ state: SpanState) {
        send(
            Made(bytes: ByteBuffer(string: JSON.text(of: state)), headers: headers(type: "application/json")))
    }

    /// Sends the MP4 of a range of time, or a byte range of it; before it is made, only its headers.
    func span(_ span: SpanJob, _ turn: WorkTurn) {
        var headers = headers(type: "video/mp4")
        headers.add(name: "Content-Disposition", value: Self.attachment(span.fileName))
        let state = span.state
        headers.add(name: "Camweb-Holes", value: "\(state.holes)")
        headers.add(name: "Camweb-Missing", value: "\(state.missing)")
        guard let file = span.content?.file else {
            headers.add(name: "Accept-Ranges", value: "bytes")
            begin(.ok, headers)
            return sink.end()
        }
        do throws(Refusal) {
            try send(file.descriptor, of: file.count, tag: span.tag, headers, turn)
        } catch { fail(error) }
        // The file is open as long as the span exists.
        withExtendedLifetime(span) {}
    }

    /// Sends the file of a segment, or a byte range of it.
    func file(_ id: UInt64, _ turn: WorkTurn) throws(Refusal) {
        let (segment, recording) = try request.catalog.open(id)
        let size = recording.size
        let tag = "\"\(id)-\(size)-\(segment.file.modification.nanoseconds)\""
        var headers = headers(type: Self.mediaType(of: segment.file.name))
        headers.add(
            name: "Content-Disposition", value: Self.attachment(segment.file.path.last ?? "recording"))
        // The file stays open as long as it is sent.
        defer { withExtendedLifetime(recording) {} }
        try send(recording.descriptor, of: size, tag: tag, headers, turn)
    }

    /// Sends an open file, or the byte range of it that is wanted.
    private func send(
        _ descriptor: Int32, of size: Int, tag: String, _ headers: HTTPHeaders, _ turn: WorkTurn
    ) throws(Refusal) {
        var headers = headers
        headers.add(name: "Accept-Ranges", value: "bytes")
        headers.add(name: "ETag", value: tag)
        let isCurrent = request.condition.map { $0 == tag } ?? true
        switch isCurrent ? ByteRange(request.range ?? "", of: size) : .whole {
        case .whole: send(descriptor, 0..<size, headers, turn)
        case .part(let part):
            headers.add(
                name: "Content-Range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
            send(descriptor, part, headers, turn, status: .partialContent)
        case .unsatisfiable: throw .noSuchRange(of: size)
        }
    }

    /// Sends a piece of a segment as fragmented MP4.
    func piece(_ id: UInt64, at time: Duration, length: Duration, _ turn: WorkTurn) throws(Refusal) {
        let (segment, recording) = try request.catalog.open(id)
        do throws(RemuxError) {
            let reader = try RecordingReader(descriptor: recording.descriptor, name: segment.file.name)
            let found = try reader.part(from: time, until: time + length) { isGone }
            guard let part = found, let facts = StreamFacts(reader.firstKeyframe) else {
                throw Self.noKeyframe(segment)
            }
            var headers = headers(type: Self.mediaType(of: facts, sound: reader.description.sound?.codec))
            headers.add(name: "Camweb-Start", value: "\(part.start.roundedUp)")
            if let end = part.end { headers.add(name: "Camweb-End", value: "\(end.roundedUp)") }
            try copy(part, of: reader, name: segment.file.name, headers, turn)
        } catch { throw .unreadable(error) }
    }

    private func copy(
        _ part: RecordingReader.Part, of reader: RecordingReader, name: String, _ headers: HTTPHeaders,
        _ turn: WorkTurn
    ) throws(RemuxError) {
        let clip = try RemuxError.ofOutput { () throws(OutputError) in
            try ClipWriter(fragmenting: reader.description, name: name)
        }
        var headers = headers
        headers.add(name: "Camweb-Delay", value: "\(clip.delay.roundedUp)")
        begin(.ok, headers)
        if request.isHead { return sink.end() }
        try reader.read(part, isOver: { isGone }) { (item) throws(RemuxError) in
            try RemuxError.ofOutput { () throws(OutputError) in try clip.write(item) }
            _ = sink.send(ByteBuffer(bytes: clip.takeBytes()), turn)
        }
        try RemuxError.ofOutput { () throws(OutputError) in try clip.finish() }
        _ = sink.send(ByteBuffer(bytes: clip.takeBytes()), turn)
        sink.end()
    }

    /// Makes the response with a keyframe as Annex B, which the page decodes.
    func madeKeyframe(_ id: UInt64, at time: Duration) throws(Refusal) -> Made {
        let (segment, recording) = try request.catalog.open(id)
        do throws(RemuxError) {
            let reader = try RecordingReader(descriptor: recording.descriptor, name: segment.file.name)
            guard let (unit, time) = try reader.keyframe(at: time, isOver: { isGone }),
                let facts = StreamFacts(unit) ?? StreamFacts(reader.firstKeyframe)
            else { throw Self.noKeyframe(segment) }
            var headers = headers(type: "application/octet-stream")
            headers.add(name: "Camweb-Codec", value: facts.codec.description)
            headers.add(name: "Camweb-Size", value: "\(facts.width)x\(facts.height)")
            headers.add(name: "Camweb-Start", value: "\(time.roundedUp)")
            return Made(bytes: unit.withUnsafeBytes { ByteBuffer(bytes: $0) }, headers: headers)
        } catch { throw .unreadable(error) }
    }

    /// Sends a byte range of an open file.
    func send(
        _ descriptor: Int32, _ part: Range<Int>, _ headers: HTTPHeaders, _ turn: WorkTurn,
        status: HTTPResponseStatus = .ok
    ) {
        var headers = headers
        headers.add(name: "Content-Length", value: "\(part.count)")
        begin(status, headers)
        if request.isHead { return sink.end() }
        var position = part.lowerBound
        while position < part.upperBound {
            var bytes = ByteBufferAllocator().buffer(capacity: Self.chunkLength)
            let wanted = min(Self.chunkLength, part.upperBound - position)
            let count = bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { room in
                max(0, pread(descriptor, room.baseAddress, wanted, off_t(position)))
            }
            // The file became shorter, or cannot be read.
            guard count > 0 else { return sink.abort() }
            guard sink.send(bytes, turn) else { return }
            position += count
        }
        sink.end()
    }

    /// Refuses the request; if the response has begun, closes the connection instead.
    func fail(_ refusal: Refusal) {
        guard !hasBegun else { return sink.abort() }
        let response = Response(refusal, for: request.rights)
        begin(response.status, response.headers)
        _ = sink.send(response.body)
        sink.end()
    }

    func headers(type: String) -> HTTPHeaders { Response.headers(type: type, authority: request.authority) }

    func send(_ made: Made) {
        var headers = made.headers
        headers.add(name: "Content-Length", value: "\(made.bytes.readableBytes)")
        begin(.ok, headers)
        if sink.send(made.bytes) { sink.end() }
    }

    private func begin(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        hasBegun = true
        sink.begin(status, headers)
    }

    /// Returns the `Content-Disposition` of a download; characters that a header cannot contain become
    /// hyphens (RFC 6266).
    static func attachment(_ name: String) -> String {
        let plain = name.unicodeScalars.map { scalar in
            scalar.properties.isASCIIHexDigit || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                || "._-".unicodeScalars.contains(scalar) ? Character(scalar) : "-"
        }
        return "attachment; filename=\"\(String(plain))\""
    }

    private static func mediaType(of name: String) -> String {
        switch ContainerFormat(path: name) {
        case .mp4: "video/mp4"
        case .matroska: "video/x-matroska"
        case .transportStream: "video/mp2t"
        case nil: "application/octet-stream"
        }
    }

    /// The media type of an MP4 with all its codecs (RFC 6381).
    private static func mediaType(of facts: StreamFacts, sound: SoundCodec?) -> String {
        let type = LiveForm.mp4.contentType(of: facts)
        guard let sound else { return type }
        let name =
            switch sound {
            case .aac: "mp4a.40.2"
            case .opus: "opus"
            case .flac: "flac"
            }
        return type.dropLast() + ", \(name)\""
    }

    private static func noKeyframe(_ segment: Segment) -> RemuxError {
        .input(InputError(.malformed("no keyframe can be read"), input: segment.file.name))
    }
}

extension Duration {
    /// Microseconds, rounded up: a request for this time must find the keyframe at it.
    fileprivate var roundedUp: Int64 { (inNanoseconds + 999) / 1000 }
}

// MARK: The list as JSON

/// The list for the page; times are in microseconds since 1970.
struct SegmentList: Encodable {
    private let segments: [Entry]
    /// Instead of segments, if there are too many of them.
    private let runs: [Run]?
    /// What camweb still has to read; absent if it has read everything.
    private let progress: RecordingCatalog.Progress?
    /// Whether the list has all recordings; otherwise the same request soon gets a longer list.
    private let complete: Bool
    private let problems: [RecordingProblem]
    /// The oldest and newest time of all recordings, leaving out wrong dates; nil if there are none.
    private let first: Int64?
    private let last: Int64?
    private let now: Int64

    private struct Entry: Encodable {
        let id: String
        let name: String
        let start: Int64
        let end: Int64
        let bytes: Int
        let event: Bool
        let growing: Bool
    }

    /// Successive recordings as one.
    private struct Run: Encodable {
        let start: Int64
        let end: Int64
        let bytes: Int
        let event: Bool
        let count: Int
    }

    /// The most problems to show; people would not read more.
    private static let mostProblems = 20

    /// - Parameters:
    ///   - areEvents: whether each recording is an event.
    ///   - seesDetails: whether the client may see why recordings cannot be shown.
    init(_ listing: RecordingCatalog.Listing, areEvents: Bool, seesDetails: Bool, now: WallTime) {
        runs = listing.runs?.map {
            Run(
                start: $0.time.lowerBound.microseconds, end: $0.time.upperBound.microseconds,
                bytes: $0.bytes, event: areEvents, count: $0.count)
        }
        progress = listing.progress
        segments = listing.segments.map {
            Entry(
                id: "\($0.id)", name: $0.file.name, start: $0.time.lowerBound.microseconds,
                end: $0.time.upperBound.microseconds, bytes: $0.file.size, event: $0.isEvent,
                growing: $0.probe.isGrowing)
        }
        complete = listing.isComplete
        let problems = listing.problems.prefix(Self.mostProblems)
        self.problems = seesDetails ? Array(problems) : problems.map(\.inWords)
        (first, last) = (listing.extent?.lowerBound.microseconds, listing.extent?.upperBound.microseconds)
        self.now = now.microseconds
    }
}
