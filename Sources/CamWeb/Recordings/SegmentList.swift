import CamPlatform

/// What the page gets: times in microseconds since 1970.
struct SegmentList: Encodable {
    private let segments: [Entry]
    /// Whether nothing is missing; otherwise the same question will have a longer answer soon.
    private let complete: Bool
    private let problems: [RecordingProblem]
    /// The oldest and the newest time of all recordings; nil if there are none.
    private let first: Int64?
    private let last: Int64?
    private let now: Int64

    private struct Entry: Encodable {
        let id: String
        let name: String
        let start: Int64
        let end: Int64
        let bytes: Int
        let event: Bool
        let growing: Bool
    }

    /// More would not be read.
    private static let mostProblems = 20

    init(_ listing: RecordingCatalog.Listing, now: WallTime) {
        segments = listing.segments.map {
            Entry(
                id: "\($0.id)", name: $0.file.name, start: $0.time.lowerBound.microseconds,
                end: $0.time.upperBound.microseconds, bytes: $0.file.size, event: $0.isEvent,
                growing: $0.probe.isGrowing)
        }
        complete = listing.isComplete
        problems = Array(listing.problems.prefix(Self.mostProblems))
        (first, last) = (listing.extent?.lowerBound.microseconds, listing.extent?.upperBound.microseconds)
        self.now = now.microseconds
    }
}
