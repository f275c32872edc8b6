/// What is known about a stream, at its end or while reading it.
public struct StreamSummary: Sendable {
    /// How the order of output relates to the order of decoding.
    public enum OutputOrder: Sendable {
        /// It is the same: nothing is reordered.
        case decoding
        /// Pictures are shown before others that are coded before them.
        case reordered
        /// The stream does not say, or not in a supported way.
        case unknown
    }

    /// The coding standard that the stream was read as.
    public let codec: Codec
    /// What the sequence parameter set of the first picture states; `nil` if none could be read.
    public let format: StreamFormat?
    /// The number of bytes read.
    public let byteCount: Int
    /// The number of NAL units.
    public let nalUnitCount: Int
    /// How many units have each length of start code, or length field, by that length, rising.
    public let prefixes: [(length: Int, count: Int)]
    /// How many units there are of each type, by rising type.
    public let unitTypes: [(type: Int, name: String, count: Int)]
    /// The number of access units.
    public let accessUnitCount: Int
    /// How many of them are the second field of a frame.
    public let secondFieldCount: Int
    /// The number of IDR pictures.
    public let idrCount: Int
    /// How many of them are of kind `intra`; all, in a sound stream.
    public let intraIDRCount: Int
    /// The number of pictures at which decoding can begin, IDR pictures among them.
    public let keyframeCount: Int
    /// How many access units there are of each kind.
    public let kindCounts: [PictureKind: Int]
    /// Whether pictures are reordered.
    public let outputOrder: OutputOrder
    /// Frames from one keyframe to the next, or fields in a field sequence; the last group counts only if it
    /// is the only one.
    public let groupLengths: ClosedRange<Int>?
    /// Bits in the fullest second; `nil` if the stream is shorter, or its rate unknown.
    public let peakBitRate: Double?
    /// Bytes of all pictures.
    public let pictureByteCount: Int
    /// Parameter sets by kind.
    public let parameterSetCounts: [ParameterSetCount]
    /// The distinct parameter sets, in the order in which they came.
    public let parameterSets: [ParameterSetRecord]
    /// Whether there were more distinct ones than are kept.
    public let parameterSetsAreIncomplete: Bool
    /// Supplemental enhancement information by payload type.
    public let messages: [MessageRecord]
    /// What is odd, each kind once.
    public let problems: [StreamProblem]
    /// The number of problems of further kinds, which are not listed.
    public let omittedProblemCount: Int

    /// The number of frames; two fields are one.
    public var frameCount: Int {
        isFieldSequence ? (accessUnitCount + 1) / 2 : accessUnitCount - secondFieldCount
    }

    /// Whether each access unit is one field of a frame.
    public var isFieldSequence: Bool { format?.isFieldSequence ?? false }

    /// Access units a second, counting a pair of fields as one; `nil` if no rate is stated.
    public var picturesPerSecond: Double? { framesPerSecond.map { isFieldSequence ? 2 * $0 : $0 } }

    /// Frames a second that the stream states; `nil` if it states none.
    public var framesPerSecond: Double? { format?.frameRate?.framesPerSecond }

    /// How long the frames last at that rate, in seconds.
    public var duration: Double? { framesPerSecond.map { Double(frameCount) / $0 } }

    /// Bits of pictures a second, on average.
    public var averageBitRate: Double? {
        duration.flatMap { $0 > 0 ? Double(pictureByteCount) * 8 / $0 : nil }
    }

    /// Whether B pictures refer to the past only, so that they are P pictures in all but name: some H.265
    /// encoders produce no others.
    public var hasGeneralizedP: Bool {
        codec == .hevc && outputOrder == .decoding && kindCounts[.bidirectional, default: 0] > 0
    }

    /// The words for the transfer that SEI prefers to the VUI's; `nil` if there is no such message.
    public var alternativeTransfer: String? {
        messages.first { $0.name == "alternative_transfer_characteristics" }?.text
    }

    /// The words for an element of the first picture's sequence parameter set, such as
    /// `matrix_coefficients`; `nil` if the set has no such element.
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

/// Something odd in a stream, and its first position.
public struct StreamProblem: Equatable, Sendable {
    /// What is odd, in words.
    public let message: String
    /// Its first position in the stream, in bytes.
    public let offset: Int
    /// How often it occurred.
    public internal(set) var count: Int
}

extension StreamProblem: CustomStringConvertible {
    /// One line: the offset, the problem, and how often it occurred.
    public var description: String {
        "offset \(offset): \(message)" + (count > 1 ? " (\(count) times)" : "")
    }
}

/// The problems of a stream, each kind once, in order of their first occurrence.
struct StreamProblemList: Sendable {
    /// Kinds that are kept; any others that a malicious stream causes are only counted.
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
