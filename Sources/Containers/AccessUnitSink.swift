import Bitstream
import CamPlatform
import CamSound

/// A destination for access units. Used by one thread, its writer.
public protocol AccessUnitSink: AnyObject {
    /// The name in messages.
    var name: String { get }

    /// The file that is being written; nil if there is none, or it is closed.
    var identity: FileIdentity? { get }

    /// Writes an access unit, whole or not at all.
    func write(_ unit: AccessUnit) throws(OutputError)

    /// Whether the output contains sound as well.
    var takesSound: Bool { get }

    /// Writes a packet of sound. It begins no later than the picture that is written next, and no earlier than the first.
    func write(_ sound: SoundPacket) throws(OutputError)

    /// Ends the sound; pictures may follow.
    func endSound() throws(OutputError)

    /// Whether writing may continue after an error. Access units that could not be written are lost.
    var recovers: Bool { get }

    /// Whether the output contains the pictures, and not only data about another output's pictures.
    var takesPictures: Bool { get }

    /// Continues the stream in another picture format, with an IDR. If a file cannot contain both formats, the output
    /// continues in another file.
    func beginStream(_ description: StreamDescription) throws(OutputError)

    /// Ends the current file of an output with several files. The next IDR begins another.
    func endFile() throws(OutputError)

    /// The time between calls of `maintain`; nil if no calls are necessary.
    var maintenanceInterval: Duration? { get }

    /// Does periodic work, even while nothing is written.
    func maintain()

    /// Ends the output. Nothing more is written.
    func finish() throws(OutputError)

    /// Ends an output that belongs to a file of which nothing is left. A new file is removed.
    func discard()

    /// Returns the access units that were written without an error and lost later, and forgets them: a container stores
    /// pictures in pieces, and an error discards the piece being written.
    func takeRetracted() -> WrittenUnits

    /// The outage in progress; nil while the output can be written. Read it in the writer's thread.
    var currentOutage: OutputOutage? { get }

    /// Updates `currentOutage` while nothing is written.
    /// - Parameter room: the bytes that must be free on the disk.
    func lookForOutage(room: Int)
}

/// A count of access units that were written.
public struct WrittenUnits: Sendable, Equatable {
    public private(set) var count = 0
    public private(set) var keyframes = 0
    public private(set) var bytes = 0

    /// None.
    public init() {}

    /// Counts an access unit.
    public mutating func add(_ unit: AccessUnit) {
        count += 1
        keyframes += unit.isIDR ? 1 : 0
        bytes += unit.count
    }

    /// Adds another count.
    public mutating func add(_ others: WrittenUnits) {
        count += others.count
        keyframes += others.keyframes
        bytes += others.bytes
    }

    /// Returns the count, and resets it.
    public mutating func takeAll() -> WrittenUnits {
        defer { self = WrittenUnits() }
        return self
    }
}

extension AccessUnitSink {
    /// Most outputs belong to no other file.
    public func discard() { try? finish() }

    /// Most outputs end when writing fails.
    public var recovers: Bool { false }

    /// Most outputs are pictures alone.
    public var takesSound: Bool { false }

    public func write(_ sound: SoundPacket) throws(OutputError) {}

    public func endSound() throws(OutputError) {}

    /// Most outputs contain the pictures.
    public var takesPictures: Bool { true }

    /// Most outputs have no work between writes.
    public var maintenanceInterval: Duration? { nil }

    public func maintain() {}

    /// Most outputs are one stream.
    public func endFile() throws(OutputError) {}

    /// Most outputs keep what was written.
    public func takeRetracted() -> WrittenUnits { WrittenUnits() }

    /// Most outputs end when writing fails.
    public var currentOutage: OutputOutage? { nil }

    /// Finds nothing.
    public func lookForOutage(room: Int) {}
}

// MARK: - Pictures and sound in one sequence

/// A picture or a packet of sound, in writing order.
public enum StreamItem: Sendable {
    case picture(AccessUnit)
    case sound(SoundPacket)

    /// The picture; nil if it is sound.
    package var picture: AccessUnit? {
        if case .picture(let unit) = self { unit } else { nil }
    }

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .picture(let unit): unit.count
        case .sound(let packet): packet.count
        }
    }
}
