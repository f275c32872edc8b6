/// The files that an output consists of.
public struct SegmentSummary: Sendable, Hashable {
    /// The number of files begun.
    public var count = 0
    /// The first file's path; nil if there was none.
    public var first: String?
    /// The latest file's path; nil if there was none.
    public var last: String?
    /// The number of old files removed.
    public var removed = 0

    /// Creates an empty summary.
    public init() {}

    /// Counts a file that begins.
    mutating func add(_ path: String) {
        count += 1
        first = first ?? path
        last = path
    }
}
