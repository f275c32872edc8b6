import Bitstream
import CamSound
import CamPlatform

/// Wraps access units in what a live output's receivers get, once for all of them. Belongs to the output's writer.
protocol LiveFraming: AnyObject {
    /// Appends an access unit's bytes as they are sent.
    /// - Parameter bytes: empty, with the capacity of earlier units.
    func frame(_ unit: AccessUnit, into bytes: inout [UInt8]) throws(OutputError)

    /// Whether it has sound.
    var takesSound: Bool { get }

    /// Appends a packet of sound as it is sent; nothing before the first access unit.
    func frame(_ sound: SoundPacket, into bytes: inout [UInt8]) throws(OutputError)

    /// Notes that the following pictures have another format.
    func beginStream() throws(OutputError)

    /// What each receiver gets before its first unit; known once a unit was framed.
    var prologue: [UInt8] { get }
}

/// An access unit as receivers get it.
///
/// Filled by a `FramedUnitPool` and constant from then on, until the pool finds that it holds the only reference:
/// that justifies `@unchecked Sendable`.
final class FramedUnit: @unchecked Sendable {
    fileprivate(set) var bytes: [UInt8] = []
    /// Precedes them where they are the first that a receiver gets.
    fileprivate(set) var prologue: [UInt8] = []

    init(bytes: [UInt8] = []) { self.bytes = bytes }
}

/// Framed units whose storage is reused. Used by one thread.
struct FramedUnitPool {
    private var units: [FramedUnit] = []

    /// Kept for reuse; more are created if receivers lag.
    private static let limit = 64

    /// Returns an access unit's bytes as they are sent.
    mutating func make(_ unit: AccessUnit, with framing: any LiveFraming) throws(OutputError) -> FramedUnit {
        let framed = takeFree()
        framed.bytes.removeAll(keepingCapacity: true)
        try framing.frame(unit, into: &framed.bytes)
        framed.prologue = framing.prologue
        return framed
    }

    /// Returns a packet of sound as it is sent.
    mutating func make(_ sound: SoundPacket, with framing: any LiveFraming) throws(OutputError) -> FramedUnit
    {
        let framed = takeFree()
        framed.bytes.removeAll(keepingCapacity: true)
        try framing.frame(sound, into: &framed.bytes)
        return framed
    }

    private mutating func takeFree() -> FramedUnit {
        // The first, so that few are used while receivers keep up.
        for index in units.indices where isKnownUniquelyReferenced(&units[index]) { return units[index] }
        let unit = FramedUnit()
        if units.count < Self.limit { units.append(unit) }
        return unit
    }
}
