import Bitstream
import CamPlatform
import NIOCore
import CamDelivery
import Containers

/// A form in which viewers get a stream.
enum LiveForm: Hashable, Sendable, CaseIterable {
    /// A message for each picture, over a WebSocket.
    case messages
    /// A fragment of an MP4 for each picture, in such a message: for browsers that do not decode with WebCodecs. Over a
    /// WebSocket, because browsers have at most six other connections to a server.
    case fragments
    case mp4
    case transportStream

    /// The container's format; nil for messages.
    var container: ContainerFormat? {
        switch self {
        case .messages: nil
        case .fragments, .mp4: .mp4
        case .transportStream: .transportStream
        }
    }

    /// The form of a container; nil for one that is not offered.
    init?(_ container: ContainerFormat) {
        switch container {
        case .mp4: self = .mp4
        case .transportStream: self = .transportStream
        case .matroska: return nil
        }
    }

    /// The media type of a stream in this form (RFC 6381).
    func contentType(of facts: StreamFacts) -> String {
        switch self {
        case .messages: "application/octet-stream"
        // H.265 with parameter sets in the header has another name (ISO/IEC 14496-15, 8.4.1).
        case .fragments, .mp4:
            "video/mp4; codecs=\"\(facts.codec.description.replacing("hev1.", with: "hvc1."))\""
        case .transportStream: "video/mp2t"
        }
    }
}

// MARK: Containers

/// Frames the pictures of a camera in each container that has viewers, once for all of them. Used by one
/// thread.
final class ContainerSupply {
    private let name: String
    private var open: [LiveForm: (container: LiveContainer, start: ContainerStart?)] = [:]

    /// - Parameter name: the name of the stream in messages.
    init(name: String) { self.name = name }

    /// Starts new containers, because a header belongs to one format.
    func restart() { open.removeAll() }

    /// Frames a picture for the viewers of a form; nil if a container cannot begin with it.
    /// - Parameter duration: how long the picture will probably last.
    func picture(
        _ unit: AccessUnit, lasting duration: Duration, as form: LiveForm, _ facts: StreamFacts
    ) throws(OutputError) -> LivePicture? {
        guard let format = form.container else { return nil }
        if open[form] == nil {
            guard unit.isIDR, let description = StreamDescription(keyframe: unit) else { return nil }
            open[form] = (try LiveContainer(format, stream: description, name: name), nil)
        }
        guard let container = open[form]?.container else { return nil }
        let fragment = try container.frame(unit, lasting: duration)
        let header = container.prologue
        let isMessage = form == .fragments
        let start =
            open[form]?.start
            ?? ContainerStart(
                prologue: isMessage ? LiveMessage.header(header) : ByteBuffer(bytes: header),
                contentType: form.contentType(of: facts))
        open[form]?.start = start
        let bytes =
            isMessage ? LiveMessage.bytes(fragment, of: unit, lasting: duration) : ByteBuffer(bytes: fragment)
        return LivePicture(form: form, bytes: bytes, isKeyframe: unit.isIDR, container: start)
    }

    /// Ends the container of a form, because it has no viewers or has failed.
    func close(_ form: LiveForm) { open[form] = nil }
}

extension StreamDescription {
    /// Describes the stream of a keyframe, assuming no reordering; nil if its parameter set cannot be read.
    fileprivate init?(keyframe: AccessUnit) {
        var sets = StreamParameterSets(codec: keyframe.codec)
        guard let set = keyframe.sequenceParameterSet, (try? sets.insert(set.span.bytes)) == true else {
            return nil
        }
        self.init(sets, reordering: 0)
    }
}

// MARK: Binary messages

/// The binary message with a picture: a header of 12 bytes, then the access unit as Annex B, or the fragment of an MP4.
/// Before its first fragment, each viewer gets the header of the MP4 in a message of its own.
///
/// | bytes | content |
/// |---|---|
/// | 0 | version, 2 |
/// | 1 | flags: 1 for a keyframe, 2 for the header of an MP4 |
/// | 2, 3 | how long the picture will probably last, in milliseconds, big-endian |
/// | 4 … 11 | when it arrived, in microseconds of the monotonic clock, big-endian |
///
/// A text message, not a flag, announces the keyframe of a new format.
enum LiveMessage {
    static let version: UInt8 = 2
    static let headerByteCount = 12

    private static let (keyframeFlag, headerFlag): (UInt8, UInt8) = (1, 2)

    /// Copies an access unit into a message.
    static func picture(_ unit: AccessUnit, lasting duration: Duration) -> LivePicture {
        let bytes = unit.withUnsafeBytes { self.bytes($0, of: unit, lasting: duration) }
        return LivePicture(form: .messages, bytes: bytes, isKeyframe: unit.isIDR)
    }

    /// Copies a picture's bytes into a message.
    static func bytes(
        _ content: some Collection<UInt8>, of unit: AccessUnit, lasting duration: Duration
    ) -> ByteBuffer {
        message(
            unit.isIDR ? keyframeFlag : 0, UInt16(clamping: duration.inNanoseconds / 1_000_000),
            unit.timestamp.nanoseconds / 1000, content)
    }

    /// Copies the header of an MP4 into a message.
    static func header(_ content: some Collection<UInt8>) -> ByteBuffer { message(headerFlag, 0, 0, content) }

    private static func message(
        _ flags: UInt8, _ duration: UInt16, _ arrival: Int64, _ content: some Collection<UInt8>
    ) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: headerByteCount + content.count)
        buffer.writeInteger(version)
        buffer.writeInteger(flags)
        buffer.writeInteger(duration)
        buffer.writeInteger(arrival)
        buffer.writeBytes(content)
        return buffer
    }
}

/// The usual time from picture to picture: the second longest of the latest intervals, of which an outage is only one.
struct PictureInterval: Sendable {
    /// That of 25 pictures a second, until two intervals are known.
    private(set) var usual = Duration.milliseconds(40)
    private var latest: Instant?
    private var intervals: [Duration] = []

    private static let count = 5

    /// Records the arrival of a picture.
    mutating func note(_ arrival: Instant) {
        defer { latest = arrival }
        guard let latest else { return }
        if intervals.count == Self.count { intervals.removeFirst() }
        intervals.append(arrival - latest)
        guard intervals.count > 1 else { return }
        usual = max(intervals.sorted()[intervals.count - 2], .milliseconds(1))
    }
}

// MARK: Text messages

/// The text messages of a live connection, as JSON.
struct TextMessage: Encodable {
    private let kind: Kind
    private var codec: String?
    /// The media type for a player of fragments.
    private var type: String?
    private var width: Int?
    private var height: Int?
    private var state: State?
    private var reason: String?
    /// Milliseconds since the newest picture, or since one is awaited.
    private var age: Int64?

    private enum Kind: String, Encodable { case format, status, impossible }
    private enum State: String, Encodable { case connecting, waiting, live, paused, unavailable, unplayable }

    init(_ facts: StreamFacts) {
        kind = .format
        (codec, width, height) = (facts.codec.description, facts.width, facts.height)
        type = LiveForm.fragments.contentType(of: facts)
    }

    /// The stream cannot have the viewer's form, for this reason.
    init(impossible reason: String) { (kind, self.reason) = (.impossible, reason) }

    /// - Parameter age: the time since the newest picture; nil if unknown.
    init(_ status: CameraStatus, age: TimeAmount? = nil) {
        kind = .status
        self.age = age.map { $0.nanoseconds / 1_000_000 }
        switch status {
        case .connecting: state = .connecting
        case .waiting: state = .waiting
        case .live: state = .live
        case .paused: state = .paused
        case .unavailable(let reason): (state, self.reason) = (.unavailable, reason)
        case .unplayable(let reason): (state, self.reason) = (.unplayable, reason)
        }
    }

    /// The message without the cause, which may have addresses and paths; nil if it has none.
    var inWords: TextMessage? {
        guard reason != nil else { return nil }
        var message = self
        message.reason = kind == .impossible ? "this browser cannot play this camera; try another" : nil
        return message
    }

    /// The message on one line.
    var json: String { JSON.text(of: self) }

    /// The message, ready to be sent to any number of viewers.
    var bytes: ByteBuffer { ByteBuffer(string: json) }
}

/// A text message, ready for viewers who see details and for those who do not.
struct EventText {
    private let detailed: ByteBuffer
    private let inWords: ByteBuffer

    init(_ message: TextMessage) {
        detailed = message.bytes
        inWords = message.inWords?.bytes ?? detailed
    }

    func bytes(seesDetails: Bool) -> ByteBuffer { seesDetails ? detailed : inWords }
}
