/// The files of an output that is made of several.
public struct SegmentSummary: Sendable, Hashable {
    public var count = 0
    /// The first file's path; nil if there was none.
    public var first: String?
    /// The latest file's path; nil if there was none.
    public var last: String?
    /// How many old files were removed.
    public var removed = 0
}
