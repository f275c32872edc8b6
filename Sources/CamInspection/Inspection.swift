import Bitstream
import CamPlatform

/// The results of the inspection of a stream.
public struct Inspection: Sendable {
    /// The stream's name: a path, or `standard input`.
    public let name: String
    /// The container that the stream was extracted from; nil for a raw stream.
    public let container: Container?
    /// The rates and the duration by the container's times; nil for a raw stream, and without times.
    let timing: PictureTiming.Result?
    /// The delimiters of the NAL units.
    public let framing: NALUnitSource.Framing
    /// The summary of the whole stream.
    public let summary: StreamSummary
    /// The access units, up to the inspector's limit.
    public let pictures: [PictureRecord]
    /// Why reading stopped before the end of the stream, in one line; nil after a complete read.
    public let failure: String?

    /// The properties of a container.
    public struct Container: Sendable {
        /// The kind of container.
        public let kind: StreamContainer
        /// The earliest and the latest time of a picture; nil without times.
        public private(set) var times: ClosedRange<Duration>?

        /// The sound; nil without sound of a supported kind.
        public var sound: InspectedSound?
        /// The other content, in words, such as `subtitles`.
        public let others: [String]
        /// The capture time of the first picture; nil if not stated.
        public var start: WallTime?
        /// The recording camera and program; nil if not stated.
        public var camera, program: String?
        /// The number of pictures that an edit list hides.
        public private(set) var hiddenCount = 0
        /// The times of the pictures that are shown.
        private(set) var timing = PictureTiming()

        /// Creates a container without pictures.
        public init(_ kind: StreamContainer, others: [String] = []) {
            (self.kind, self.others) = (kind, others)
        }

        /// Adds a picture.
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
    /// The subject of the row, such as `bit rate`.
    public let label: String
    /// The value, in words.
    public let value: String
}

// MARK: - Sound

/// The sound of a container.
public struct InspectedSound: Sendable, Equatable {
    /// The codec, such as `AAC`.
    public let codec: String
    /// Samples a second of each channel.
    public let rate: Int
    /// The number of channels.
    public let channels: Int
    /// The number of packets so far, and of their bytes.
    public private(set) var (packetCount, byteCount) = (0, 0)
    /// The time from the start of the first packet to the end of the last packet, since the first picture;
    /// nil without packets.
    public private(set) var times: ClosedRange<Duration>?
    /// Whether the latest packet's duration is known.
    private var hasDuration = false
    /// The total duration of gaps between packets.
    public private(set) var gaps = Duration.zero

    /// The shortest gap: containers round times, so shorter distances mean nothing.
    private static let shortestGap = Duration.milliseconds(3)

    /// Creates a summary without packets.
    public init(codec: String, rate: Int, channels: Int) {
        (self.codec, self.rate, self.channels) = (codec, rate, channels)
    }

    /// Adds the next packet.
    /// - Parameter start: the packet's start, since the first picture.
    public mutating func note(at start: Duration, duration: Duration, byteCount: Int) {
        packetCount += 1
        self.byteCount += byteCount
        let end = start + duration
        defer { hasDuration = duration > .zero }
        guard let times else { return self.times = start...max(start, end) }
        if hasDuration, start - times.upperBound >= Self.shortestGap { gaps += start - times.upperBound }
        self.times = min(times.lowerBound, start)...max(times.upperBound, end)
    }

    /// Bits a second; nil if the sound has no duration.
    public var bitRate: Double? {
        guard let times, times.lowerBound < times.upperBound else { return nil }
        return Double(byteCount) * 8 / (times.upperBound - times.lowerBound).inSeconds
    }

    /// The summary in one line.
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
