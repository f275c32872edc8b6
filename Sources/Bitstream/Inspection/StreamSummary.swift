/// The properties of a stream, at its end or while it is read.
public struct StreamSummary: Sendable {
    /// The relation of output order to decoding order.
    public enum OutputOrder: Sendable {
        /// Output order is decoding order.
        case decoding
        /// Some pictures are decoded after pictures that follow them in output order.
        case reordered
        /// The stream does not state the order in a supported form.
        case unknown
    }

    /// The coding standard by which the stream was read.
    public let codec: Codec
    /// The format of the first picture; `nil` without a readable sequence parameter set.
    public let format: StreamFormat?
    /// The number of bytes read.
    public let byteCount: Int
    /// The number of NAL units.
    public let nalUnitCount: Int
    /// The number of units for each length of start code or length field, by rising length.
    public let prefixes: [(length: Int, count: Int)]
    /// The number of units of each type, by rising type.
    public let unitTypes: [(type: Int, name: String, count: Int)]
    /// The number of access units.
    public let accessUnitCount: Int
    /// The number of access units that are the second field of a frame.
    public let secondFieldCount: Int
    /// The number of IDR pictures.
    public let idrCount: Int
    /// The number of IDR pictures of kind `intra`: all, in a valid stream.
    public let intraIDRCount: Int
    /// The number of pictures at which decoding can begin, IDR pictures included.
    public let keyframeCount: Int
    /// The number of access units of each kind.
    public let kindCounts: [PictureKind: Int]
    /// Whether pictures are reordered.
    public let outputOrder: OutputOrder
    /// The number of frames from one keyframe to the next, or of fields in a field sequence; the last group
    /// counts only if it is the only group.
    public let groupLengths: ClosedRange<Int>?
    /// Bits in the fullest second; `nil` if the stream is shorter, or its rate unknown.
    public let peakBitRate: Double?
    /// Bytes of all pictures.
    public let pictureByteCount: Int
    /// Parameter sets by kind.
    public let parameterSetCounts: [ParameterSetCount]
    /// The distinct parameter sets, in stream order.
    public let parameterSets: [ParameterSetRecord]
    /// Whether the stream has further distinct parameter sets, which are not listed.
    public let parameterSetsAreIncomplete: Bool
    /// Supplemental enhancement information by payload type.
    public let messages: [MessageRecord]
    /// The capture times in the stream; nil if it has none.
    public let captureTimes: CaptureTimes?
    /// The problems, each kind once.
    public let problems: [StreamProblem]
    /// The number of problems of further kinds, which are not listed.
    public let omittedProblemCount: Int

    /// The number of frames; two fields are one.
    public var frameCount: Int {
        isFieldSequence ? (accessUnitCount + 1) / 2 : accessUnitCount - secondFieldCount
    }

    /// Whether each access unit is one field of a frame.
    public var isFieldSequence: Bool { format?.isFieldSequence ?? false }

    /// Access units a second, where two fields in H.264 count as one; `nil` if the stream states no rate.
    public var picturesPerSecond: Double? { framesPerSecond.map { isFieldSequence ? 2 * $0 : $0 } }

    /// Frames a second, as stated in the stream; `nil` if not stated.
    public var framesPerSecond: Double? { format?.frameRate?.framesPerSecond }

    /// The duration of all frames at `framesPerSecond`, in seconds.
    public var duration: Double? { framesPerSecond.map { Double(frameCount) / $0 } }

    /// Bits of pictures a second, on average.
    public var averageBitRate: Double? {
        duration.flatMap { $0 > 0 ? Double(pictureByteCount) * 8 / $0 : nil }
    }

    /// Whether B pictures refer only to the past, like P pictures (generalized P). Some H.265 encoders
    /// write only such B pictures.
    public var hasGeneralizedP: Bool {
        codec == .hevc && outputOrder == .decoding && kindCounts[.bidirectional, default: 0] > 0
    }

    /// The rates and the duration by capture times; nil unless each access unit has one.
    package var timing: PictureTiming.Result? {
        captureTimes.flatMap { $0.count == accessUnitCount ? $0.timing : nil }
    }

    /// The transfer characteristics, in words, that an SEI message prefers to the VUI; `nil` without such a
    /// message.
    public var alternativeTransfer: String? {
        messages.first { $0.name == "alternative_transfer_characteristics" }?.text
    }

    /// The meaning of an element of the first picture's sequence parameter set, such as
    /// `matrix_coefficients`; `nil` without such an element.
    public func meaning(of element: String) -> String? {
        guard let format else { return nil }
        let set = parameterSets.first { $0.kind == "SPS" && $0.id == format.sequenceParameterSetID }
        guard let structure = set?.structure,
            let found = structure.elements.first(where: { $0.name == element })
        else { return nil }
        return found.meaning(in: structure) ?? "\(found.value)"
    }
}

// MARK: - Problems

/// A problem in a stream, and its first position.
public struct StreamProblem: Equatable, Sendable {
    /// The problem in words.
    public let message: String
    /// The first position in the stream, in bytes.
    public let offset: Int
    /// The number of occurrences.
    public internal(set) var count: Int
}

extension StreamProblem: CustomStringConvertible {
    /// One line: the offset, the problem, and the number of occurrences.
    public var description: String {
        "offset \(offset): \(message)" + (count > 1 ? " (\(count) times)" : "")
    }
}

/// The problems of a stream, each kind once, in order of their first occurrence.
struct StreamProblemList: Sendable {
    /// The limit of listed kinds; further kinds, as in a malicious stream, are only counted.
    static let limit = 50

    private(set) var problems: [StreamProblem] = []
    private(set) var omittedCount = 0

    mutating func note(_ message: String, at offset: Int) {
        if let index = problems.firstIndex(where: { $0.message == message }) {
            problems[index].count += 1
        } else if problems.count < Self.limit {
            problems.append(StreamProblem(message: message, offset: offset, count: 1))
        } else {
            omittedCount += 1
        }
    }
}
