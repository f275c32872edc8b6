import Bitstream

/// What was found out of a stream, for a rendering.
public struct Inspection: Sendable {
    /// The stream's name: a path, or `standard input`.
    public let name: String
    /// What its NAL units are told apart by.
    public let framing: NALUnitSource.Framing
    /// What is known of the whole.
    public let summary: StreamSummary
    /// Its access units, up to the inspector's limit.
    public let pictures: [PictureRecord]
    /// Why the stream could not be read to its end, as one line; nil where it could.
    public let failure: String?

    /// What was found out of the stream of that name.
    public init(
        name: String, framing: NALUnitSource.Framing = .annexB, summary: StreamSummary,
        pictures: [PictureRecord], failure: String? = nil
    ) {
        self.name = name
        self.framing = framing
        self.summary = summary
        self.pictures = pictures
        self.failure = failure
    }
}

/// One row of the summary: what, and what of it.
public struct InspectionFact: Equatable, Sendable {
    /// What the row is about, such as `bit rate`.
    public let label: String
    /// What there is to say of it.
    public let value: String
}
