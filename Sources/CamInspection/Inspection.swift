import Bitstream
import CamPlatform

/// The results of inspecting a stream.
public struct Inspection: Sendable {
    /// The stream's name: a path, or `standard input`.
    public let name: String
    /// The container that the stream was extracted from; nil for a raw stream.
    public let container: Container?
    /// What its container's times amount to; nil for a raw stream, and where pictures have no times.
    let timing: PictureTiming.Result?
    /// How its NAL units are delimited.
    public let framing: NALUnitSource.Framing
    /// The summary of the whole stream.
    public let summary: StreamSummary
    /// Its access units, up to the inspector's limit.
    public let pictures: [PictureRecord]
    /// Why the stream could not be read to its end, as one line; nil if it could.
    public let failure: String?

    /// What a container states about the stream in it.
    public struct Container: Sendable {
        /// The kind of container.
        public let kind: StreamContainer
        /// The times of the first and the last picture; nil if none has one.
        public private(set) var times: ClosedRange<Duration>?

        /// Its sound; nil if it has none of a kind that is read.
        public var sound: InspectedSound?
        /// What else it contains, in words, such as `subtitles`.
        public let others: [String]
        /// When its first picture was captured; nil if it does not say.
        public var start: WallTime?
        /// The camera and the program that recorded it; nil if it does not say.
        public var camera, program: String?
        /// The pictures that an edit list hides.
        public private(set) var hiddenCount = 0
        /// The times of the other pictures.
        private(set) var timing = PictureTiming()

        /// Creates a container from which no picture has been read yet.
        public init(_ kind: StreamContainer, others: [String] = []) {
            (self.kind, self.others) = (kind, others)
        }

        /// Notes a picture and its time.
        public mutating func note(time: Duration?, isHidden: Bool, isKeyframe: Bool, byteCount: Int) {
            if isHidden { hiddenCount += 1 }
            guard let time else { return }
            if !isHidden { timing.add(time: time, isKeyframe: isKeyframe, byteCount: byteCount) }
            times = min(times?.lowerBound ?? time, time)...max(times?.upperBound ?? time, time)
        }
    }

    /// Creates the results for a stream.
    public init(
        name: String, container: Container? = nil, framing: NALUnitSource.Framing = .annexB,
        summary: StreamSummary,
        pictures: [PictureRecord], failure: String? = nil
    ) {
        self.name = name
        self.container = container
        var timing = container?.timing
        timing?.finish()
        self.timing = timing?.result
        self.framing = framing
        self.summary = summary
        self.pictures = pictures
        self.failure = failure
    }
}

/// One row of the summary: a label and its value.
public struct InspectionFact: Equatable, Sendable {
    /// What the row is about, such as `bit rate`.
    public let label: String
    /// The value, in words.
    public let value: String
}

// MARK: - Sound

/// What a container has in sound.
public struct InspectedSound: Sendable, Equatable {
    /// How it is coded, such as `AAC`.
    public let codec: String
    /// Samples a second of each channel.
    public let rate: Int
    /// How many channels there are.
    public let channels: Int
    /// The packets so far, and their bytes.
    public private(set) var (packetCount, byteCount) = (0, 0)
    /// From the first packet's beginning to the last one's end, since the first picture; nil before the first.
    public private(set) var times: ClosedRange<Duration>?
    /// Whether the latest packet's duration is known.
    private var hasDuration = false
    /// How much is missing between packets.
    public private(set) var gaps = Duration.zero

    /// Less is a container's rounding.
    private static let shortestGap = Duration.milliseconds(3)

    /// Creates a summary of no packets yet.
    public init(codec: String, rate: Int, channels: Int) {
        (self.codec, self.rate, self.channels) = (codec, rate, channels)
    }

    /// Notes the next packet.
    /// - Parameter start: when it begins, since the first picture.
    public mutating func note(at start: Duration, duration: Duration, byteCount: Int) {
        packetCount += 1
        self.byteCount += byteCount
        let end = start + duration
        defer { hasDuration = duration > .zero }
        guard let times else { return self.times = start...max(start, end) }
        if hasDuration, start - times.upperBound >= Self.shortestGap { gaps += start - times.upperBound }
        self.times = min(times.lowerBound, start)...max(times.upperBound, end)
    }

    /// Bits a second; nil if it has no duration.
    public var bitRate: Double? {
        guard let times, times.lowerBound < times.upperBound else { return nil }
        return Double(byteCount) * 8 / (times.upperBound - times.lowerBound).inSeconds
    }

    /// In a line.
    var text: String {
        guard let times else {
            return "\(codec), \(rate) Hz, \(Quantity.count(channels, "channel")), no packets"
        }
        let missing = gaps > .zero ? "; \(seconds(gaps)) s are missing in it" : ""
        return "\(codec), \(rate) Hz, \(Quantity.count(channels, "channel")), "
            + "\(bitRate.map(Quantity.bitRate) ?? "no duration"), "
            + "from \(seconds(times.lowerBound)) to \(seconds(times.upperBound)) s\(missing)"
    }

    private func seconds(_ time: Duration) -> String { Quantity.decimal(time.inSeconds, 3) }
}
