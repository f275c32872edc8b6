import CamPlatform

/// How a recording is divided into segments, and which of them are kept.
package struct SegmentPlan: Sendable {
    /// The segments' names.
    package var names: FileNamePattern
    /// The names of files that list the pictures' times, one for each segment; nil for none.
    package var timestamps: FileNamePattern?
    /// A segment's length; nil if segments only end by `endFile`.
    package var length: SegmentSchedule.Length?
    /// The greatest age of a file's first picture for the name to tell its capture time. Older pictures were
    /// not captured on this machine's clock. Nil names files after their time of creation.
    package var oldestNamed: Duration?
    /// Which segments are kept.
    package var retention = SegmentRetention()
    /// Whether the segments contain the pictures, and not only data about another output's pictures.
    package var takesPictures = true
    /// The system calls that its journal uses.
    var calls = FileCalls()

    /// Creates a plan that removes no segments.
    package init(names: FileNamePattern, length: SegmentSchedule.Length?) {
        self.names = names
        self.length = length
        oldestNamed = length == nil ? nil : Self.longestDelay
    }

    /// The longest time that encoders and disks may hold a picture back.
    package static let longestDelay = Duration.seconds(120)

    /// The patterns of the segments and of their timestamps.
    var allNames: [FileNamePattern] { [names] + [timestamps].compactMap { $0 } }
}

// MARK: - Limits

/// Which segments are kept: once a limit is exceeded, the oldest are removed.
package struct SegmentRetention: Sendable, Hashable {
    /// The time since a segment was last written.
    package var age: Duration?
    /// Bytes of all segments.
    package var bytes: Int?
    /// Segments, including the one that is being written; at least 1.
    package var count: Int?
    /// How much of the file system stays free.
    package var free: Floor?

    /// A part of a file system.
    package enum Floor: Sendable, Hashable {
        case bytes(Int)
        /// A share of its capacity, 0 to 1.
        case share(Double)

        /// The bytes to keep free on a file system with this capacity.
        func bytes(of total: Int) -> Int {
            switch self {
            case .bytes(let bytes): bytes
            case .share(let share): Int(Double(total) * share)
            }
        }
    }

    /// Keeps everything.
    package init() {}

    /// Applies another's limits as well, except `free`.
    package mutating func tighten(to other: SegmentRetention) {
        age = Self.smaller(age, other.age)
        bytes = Self.smaller(bytes, other.bytes)
        count = Self.smaller(count, other.count)
    }

    private static func smaller<Value: Comparable>(_ first: Value?, _ second: Value?) -> Value? {
        [first, second].compactMap { $0 }.min()
    }

    /// The time between checks of the limits that can be exceeded while nothing is
    /// written; nil without such limits.
    ///
    /// A tenth of the age, at most ten seconds: a check removes few segments, and there may be many.
    var maintenanceInterval: Duration? {
        guard age != nil || free != nil else { return nil }
        return min(max((age ?? .seconds(600)) / 10, .seconds(1)), .seconds(10))
    }

    /// Whether there is any limit.
    package var isLimited: Bool { self != SegmentRetention() }
}
