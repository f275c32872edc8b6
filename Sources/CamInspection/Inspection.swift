import Bitstream
import CamPlatform

/// The results of the inspection of a stream.
package struct Inspection: Sendable {
    /// The stream's name: a path, or `standard input`.
    package let name: String
    /// The container that the stream was extracted from; nil for a raw stream.
    package let container: Container?
    /// The rates and the duration by the times of the container, or by the capture times in a raw stream; nil
    /// without times.
    let timing: PictureTiming.Result?
    /// The delimiters of the NAL units.
    package let framing: NALUnitSource.Framing
    /// The summary of the whole stream.
    package let summary: StreamSummary
    /// The access units, up to the inspector's limit.
    package let pictures: [PictureRecord]
    /// Why reading stopped before the end of the stream, in one line; nil after a complete read.
    package let failure: String?

    /// The properties of a container.
    package struct Container: Sendable {
        /// The kind of container.
        package let kind: StreamContainer
        /// The earliest and the latest time of a picture; nil without times.
        package private(set) var times: ClosedRange<Duration>?

        /// The sound; nil without sound of a supported kind.
        package var sound: InspectedSound?
        /// The other content, in words, such as `subtitles`.
        package let others: [String]
        /// The capture time of the first picture; nil if not stated.
        package var start: WallTime?
        /// The recording camera and program; nil if not stated.
        package var camera, program: String?
        /// The number of pictures that an edit list hides.
        package private(set) var hiddenCount = 0
        /// The number of pictures, and the bytes of hidden ones. Two fields may be one picture.
        private(set) var (pictureCount, hiddenByteCount) = (0, 0)
        /// The times of the pictures that are shown.
        private(set) var timing = PictureTiming()

        /// Creates a container without pictures.
        package init(_ kind: StreamContainer, others: [String] = []) {
            (self.kind, self.others) = (kind, others)
        }

        /// Adds a picture.
        package mutating func note(time: Duration?, isHidden: Bool, isKeyframe: Bool, byteCount: Int) {
            pictureCount += 1
            if isHidden {
                hiddenCount += 1
                hiddenByteCount += byteCount
            }
            guard let time else { return }
            if !isHidden { timing.add(time: time, isKeyframe: isKeyframe, byteCount: byteCount) }
            times = min(times?.lowerBound ?? time, time)...max(times?.upperBound ?? time, time)
        }
    }

    /// Creates the results for a stream.
    package init(
        name: String, container: Container? = nil, framing: NALUnitSource.Framing = .annexB,
        summary: StreamSummary,
        pictures: [PictureRecord], failure: String? = nil
    ) {
        self.name = name
        self.container = container
        var timing = container?.timing
        timing?.finish()
        self.timing = container == nil ? summary.timing : timing?.result
        self.framing = framing
        self.summary = summary
        self.pictures = pictures
        self.failure = failure
    }
}

/// One row of the summary: a label and its value.
package struct InspectionFact: Equatable, Sendable {
    /// The subject of the row, such as `bit rate`.
    package let label: String
    /// The value, in words.
    package let value: String
}

// MARK: - Sound

/// The sound of a container.
package struct InspectedSound: Sendable, Equatable {
    /// The codec, such as `AAC`.
    package let codec: String
    /// Samples a second of each channel.
    package let rate: Int
    /// The number of channels.
    package let channels: Int
    /// The number of packets so far, and of their bytes.
    package private(set) var (packetCount, byteCount) = (0, 0)
    /// The time from the start of the first packet to the end of the last packet, since the first picture;
    /// nil without packets. Joined recordings follow each other.
    package private(set) var times: ClosedRange<Duration>?
    /// Whether the latest packet's duration is known.
    private var hasDuration = false
    /// The total duration of gaps between packets.
    package private(set) var gaps = Duration.zero
    /// The time that joined recordings start later than their own times say.
    private var delay = Duration.zero

    /// The shortest gap: containers round times, so shorter distances mean nothing.
    private static let shortestGap = Duration.milliseconds(3)

    /// Creates a summary without packets.
    package init(codec: String, rate: Int, channels: Int) {
        (self.codec, self.rate, self.channels) = (codec, rate, channels)
    }

    /// Adds the next packet.
    /// - Parameter time: the packet's start, since the first picture.
    package mutating func note(at time: Duration, duration: Duration, byteCount: Int) {
        packetCount += 1
        self.byteCount += byteCount
        if let times, times.upperBound - (time + delay) > PictureTiming.largestStepBack {
            delay = times.upperBound - time
        }
        let start = time + delay
        let end = start + duration
        defer { hasDuration = duration > .zero }
        guard let times else { return self.times = start...max(start, end) }
        if hasDuration, start - times.upperBound >= Self.shortestGap { gaps += start - times.upperBound }
        self.times = min(times.lowerBound, start)...max(times.upperBound, end)
    }

    /// Bits a second; nil if the sound has no duration.
    package var bitRate: Double? {
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

// MARK: - Times

extension Inspection {
    /// Frames per access unit, where two fields are one frame.
    private var framesPerAccessUnit: Double {
        summary.accessUnitCount > 0 ? Double(summary.frameCount) / Double(summary.accessUnitCount) : 1
    }

    /// Frames per picture of the container, which stores the two fields of a frame together or each by itself. The
    /// counts differ slightly where something is damaged.
    private var framesPerPicture: Double {
        guard let count = container?.pictureCount, count > 0 else { return framesPerAccessUnit }
        let storesFrames = abs(count - summary.frameCount) <= abs(count - summary.accessUnitCount)
        return storesFrames ? 1 : framesPerAccessUnit
    }

    /// The relative difference up to which the container's rate counts as the rate that the stream states.
    private static let agreement = 0.01

    /// Frames a second by the pictures' times, or without times as stated in the stream; nil if not
    /// stated.
    var framesPerSecond: Double? {
        guard let timing else { return summary.framesPerSecond }
        let measured = timing.picturesPerSecond * framesPerPicture
        if timing.variation == nil, let stated = summary.framesPerSecond,
            abs(measured / stated - 1) <= Self.agreement
        {
            return stated
        }
        return measured
    }

    /// Whether the rate differs from the rate that the stream states.
    var hasOwnRate: Bool { framesPerSecond != summary.framesPerSecond }

    /// The slowest and the fastest rate in frames a second; nil if the rate is constant or unknown.
    var rateVariation: ClosedRange<Double>? {
        timing?.variation.map { $0.lowerBound * framesPerPicture...$0.upperBound * framesPerPicture }
    }

    /// The longest time between two pictures at an otherwise constant rate; nil if none are missing.
    var longestGap: Double? { timing?.longestGap?.inSeconds }

    /// Access units a second.
    var picturesPerSecond: Double? {
        hasOwnRate ? framesPerSecond.map { $0 / framesPerAccessUnit } : summary.picturesPerSecond
    }

    /// The duration of all frames, in seconds.
    var duration: Double? { timing?.duration.inSeconds ?? summary.duration }

    /// Bits of the pictures that are shown a second, on average.
    var averageBitRate: Double? {
        let byteCount = max(0, summary.pictureByteCount - (container?.hiddenByteCount ?? 0))
        return duration.flatMap { $0 > 0 ? Double(byteCount) * 8 / $0 : nil }
    }

    /// Bits in the fullest second; nil if the stream is shorter, or its rate unknown.
    var peakBitRate: Double? { timing.map(\.peakBitRate) ?? summary.peakBitRate }
}
