import Bitstream

/// Where access units go. Used by one thread, its writer.
public protocol AccessUnitSink: AnyObject {
    /// What it is called in messages.
    var name: String { get }

    /// Which file it writes; nil where that is none, or it is closed.
    var identity: FileIdentity? { get }

    /// Writes an access unit, whole or not at all.
    func write(_ unit: AccessUnit) throws(OutputError)

    /// Whether later access units may be written although one could not be; those until then are lost.
    var recovers: Bool { get }

    /// Whether the pictures are in it, and not only what belongs to those of another output.
    var takesPictures: Bool { get }

    /// The stream goes on in another picture format, with an IDR. Where one file cannot hold both, the next
    /// begins.
    func beginStream(_ description: StreamDescription) throws(OutputError)

    /// What follows, from an IDR on, is to go into a file of its own, where the output is made of several.
    func endFile() throws(OutputError)

    /// Who takes a live output's stream; nil for other outputs. Constant, and safe in any thread.
    var receivers: ReceiverLedger? { get }

    /// The files of an output that is made of several; nil for others. To be read by the writer's thread, or after it.
    var segments: SegmentSummary? { get }

    /// Nanoseconds between two calls of `maintain`; nil where none are wanted.
    var maintenanceInterval: Int64? { get }

    /// Does what time alone makes necessary, whether anything is written or not.
    func maintain()

    /// Ends the output. Nothing more is written.
    func finish() throws(OutputError)

    /// Returns the access units that were written without an error and lost later, and forgets them: a container stores
    /// pictures in pieces, and an error discards the piece being written.
    func takeRetracted() -> WrittenUnits
}

/// A number of access units that were written.
public struct WrittenUnits: Sendable, Equatable {
    public private(set) var count = 0
    public private(set) var keyframes = 0
    public private(set) var bytes = 0

    /// None.
    public init() {}

    /// Counts one more.
    public mutating func add(_ unit: AccessUnit) {
        count += 1
        keyframes += unit.isIDR ? 1 : 0
        bytes += unit.count
    }

    /// Counts others, too.
    public mutating func add(_ others: WrittenUnits) {
        count += others.count
        keyframes += others.keyframes
        bytes += others.bytes
    }

    /// All that were counted; none are left.
    public mutating func takeAll() -> WrittenUnits {
        defer { self = WrittenUnits() }
        return self
    }
}

extension AccessUnitSink {
    /// Most outputs end where writing fails.
    public var recovers: Bool { false }

    /// Most outputs are there for the pictures.
    public var takesPictures: Bool { true }

    /// Most outputs are not live.
    public var receivers: ReceiverLedger? { nil }

    /// Most outputs are one file, or none.
    public var segments: SegmentSummary? { nil }

    /// Most outputs change with what is written only.
    public var maintenanceInterval: Int64? { nil }

    public func maintain() {}

    /// Most outputs are one stream.
    public func endFile() throws(OutputError) {}

    /// Most outputs keep what was written.
    public func takeRetracted() -> WrittenUnits { WrittenUnits() }
}
