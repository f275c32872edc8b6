import Bitstream
import CamPlatform
import NIOCore
import CamDelivery
import Containers

/// A form in which viewers get a stream.
enum LiveForm: Hashable, Sendable, CaseIterable {
    /// A message for each picture, over a WebSocket.
    case messages
    case mp4
    case transportStream

    /// The container's format; nil for messages.
    var container: ContainerFormat? {
        switch self {
        case .messages: nil
        case .mp4: .mp4
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
        case .mp4: "video/mp4; codecs=\"\(facts.codec.description.replacing("hev1.", with: "hvc1."))\""
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
    func picture(
        _ unit: AccessUnit, as form: LiveForm, _ facts: StreamFacts
    ) throws(OutputError) -> LivePicture? {
        guard let format = form.container else { return nil }
        if open[form] == nil {
            guard unit.isIDR, let description = StreamDescription(keyframe: unit) else { return nil }
            open[form] = (try LiveContainer(format, stream: description, name: name), nil)
        }
        guard let container = open[form]?.container else { return nil }
        let bytes = try container.frame(unit)
        let start =
            open[form]?.start
            ?? ContainerStart(
                prologue: ByteBuffer(bytes: container.prologue), contentType: form.contentType(of: facts))
        open[form]?.start = start
        return LivePicture(
            form: form, bytes: ByteBuffer(bytes: bytes), isKeyframe: unit.isIDR, container: start)
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

/// The binary message with a picture: a header of 12 bytes, then the access unit as Annex B.
///
/// | bytes | content |
/// |---|---|
/// | 0 | version, 1 |
/// | 1 | flags: 1 for a keyframe |
/// | 2, 3 | reserved, 0 |
/// | 4 … 11 | when it arrived, in microseconds of the monotonic clock, big-endian |
///
/// A text message, not a flag, announces the keyframe of a new format.
enum LiveMessage {
    static let version: UInt8 = 1
    static let headerByteCount = 12

    private static let keyframeFlag: UInt8 = 1

    /// Copies an access unit into a message.
    static func picture(_ unit: AccessUnit) -> LivePicture {
        LivePicture(form: .messages, bytes: bytes(unit), isKeyframe: unit.isIDR)
    }

    private static func bytes(_ unit: AccessUnit) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: headerByteCount + unit.count)
        buffer.writeInteger(version)
        buffer.writeInteger(unit.isIDR ? keyframeFlag : 0)
        buffer.writeInteger(UInt16(0))
        buffer.writeInteger(unit.timestamp.nanoseconds / 1000)
        _ = unit.withUnsafeBytes { buffer.writeBytes($0) }
        return buffer
    }
}

// MARK: Text messages

/// The text messages of a live connection, as JSON.
struct TextMessage: Encodable {
    private let kind: Kind
    private var codec: String?
    private var width: Int?
    private var height: Int?
    private var state: State?
    private var reason: String?

    private enum Kind: String, Encodable { case format, status }
    private enum State: String, Encodable { case connecting, waiting, live, unavailable }

    init(_ facts: StreamFacts) {
        kind = .format
        (codec, width, height) = (facts.codec.description, facts.width, facts.height)
    }

    init(_ status: CameraStatus) {
        kind = .status
        switch status {
        case .connecting: state = .connecting
        case .waiting: state = .waiting
        case .live: state = .live
        case .unavailable(let reason): (state, self.reason) = (.unavailable, reason)
        }
    }

    /// The message on one line.
    var json: String { JSON.text(of: self) }
}
