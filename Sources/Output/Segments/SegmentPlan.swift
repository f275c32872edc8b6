import CamPlatform

/// How a recording is divided into segments, and which of them are kept.
public struct SegmentPlan: Sendable {
    /// The segments' names.
    public var names: FileNamePattern
    /// The names of files that list the pictures' times, one for each segment; nil for none.
    public var timestamps: FileNamePattern?
    /// A segment's length; nil if segments only end by `endFile`.
    public var length: SegmentSchedule.Length?
    /// The greatest age of a file's first picture for its name to tell when the picture was captured. Older pictures do
    /// not have the time of this machine's clock. Nil names files after the moment at which they are created.
    public var oldestNamed: Duration?
    /// Which segments are kept.
    public var retention = SegmentRetention()
    /// Whether the segments contain the pictures, and not only data about another output's pictures.
    public var takesPictures = true
    /// The system calls that its journal uses.
    var calls = FileCalls()

    /// Creates a plan that removes no segments.
    public init(names: FileNamePattern, length: SegmentSchedule.Length?) {
        self.names = names
        self.length = length
        oldestNamed = length == nil ? nil : Self.longestDelay
    }

    /// How long encoders and disks may hold a picture back.
    public static let longestDelay = Duration.seconds(120)

    /// The segments' names, then those of their timestamps.
    var allNames: [FileNamePattern] { [names] + [timestamps].compactMap { $0 } }
}
