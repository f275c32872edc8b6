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
