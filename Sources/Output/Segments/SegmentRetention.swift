/// How many segments stay: the oldest ones go, as soon as one of the limits is passed.
public struct SegmentRetention: Sendable, Hashable {
    /// Seconds since a segment was written last.
    public var age: Int?
    /// Bytes of all segments.
    public var bytes: Int?
    /// Segments, the one that is being written included; at least 1.
    public var count: Int?
    /// What stays free of the file system.
    public var free: Floor?

    /// A part of a file system.
    public enum Floor: Sendable, Hashable {
        case bytes(Int)
        /// Of what it holds, 0 to 1.
        case share(Double)

        /// In bytes, of a file system that holds `total`.
        func bytes(of total: Int) -> Int {
            switch self {
            case .bytes(let bytes): bytes
            case .share(let share): Int(Double(total) * share)
            }
        }
    }

    /// Everything stays.
    public init() {}

    /// What another lets stay has to hold, too; but for `free`.
    public mutating func tighten(to other: SegmentRetention) {
        age = Self.smaller(age, other.age)
        bytes = Self.smaller(bytes, other.bytes)
        count = Self.smaller(count, other.count)
    }

    private static func smaller(_ first: Int?, _ second: Int?) -> Int? {
        [first, second].compactMap { $0 }.min()
    }

    /// Nanoseconds between two looks at what time alone makes too old or too much; nil where nothing does. A tenth of
    /// an age, and not more than ten seconds: each look removes few, and there may be many.
    var maintenanceInterval: Int64? {
        guard age != nil || free != nil else { return nil }
        return Int64(min(max((age ?? 600) / 10, 1), 10)) * 1_000_000_000
    }

    /// Whether there is any limit.
    public var isLimited: Bool { self != SegmentRetention() }
}
