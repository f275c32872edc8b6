import Bitstream

/// What was found out of a stream, for a rendering.
public struct Inspection: Sendable {
    /// The stream's name: a path, or `standard input`.
    public let name: String
    /// The container that the stream was taken out of; nil for a raw stream.
    public let container: Container?
    /// How its NAL units are delimited.
    public let framing: NALUnitSource.Framing
    /// What is known of the whole.
    public let summary: StreamSummary
    /// Its access units, up to the inspector's limit.
    public let pictures: [PictureRecord]
    /// Why the stream could not be read to its end, as one line; nil if it could.
    public let failure: String?

    /// What a container says of the stream in it.
    public struct Container: Sendable {
        /// What it is.
        public let kind: StreamContainer
        /// The first and the last picture's time; nil where none has one.
        public private(set) var times: ClosedRange<Duration>?

        /// What it contains besides the coded pictures, in words, such as `sound`.
        public let others: [String]
        /// The pictures that an edit list hides.
        public private(set) var hiddenCount = 0

        /// A container of which no picture was read yet.
        public init(_ kind: StreamContainer, others: [String] = []) {
            (self.kind, self.others) = (kind, others)
        }

        /// Takes note of a picture, and of its time.
        public mutating func note(time: Duration?, isHidden: Bool) {
            if isHidden { hiddenCount += 1 }
            guard let time else { return }
            times = min(times?.lowerBound ?? time, time)...max(times?.upperBound ?? time, time)
        }
    }

    /// What was found out of the stream of that name.
    public init(
        name: String, container: Container? = nil, framing: NALUnitSource.Framing = .annexB,
        summary: StreamSummary,
        pictures: [PictureRecord], failure: String? = nil
    ) {
        self.name = name
        self.container = container
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
    /// What there is to say of it.
    public let value: String
}
