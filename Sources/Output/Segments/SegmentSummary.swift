/// The files that an output consists of.
public struct SegmentSummary: Sendable, Hashable {
    /// The number of files, including those removed as old segments.
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

    /// Takes the latest file back, which was empty when it ended, and so removed.
    /// - Parameter previous: `last` before it was added.
    mutating func takeBack(to previous: String?) {
        count -= 1
        last = previous
        if count == 0 { first = nil }
    }
}
