import Bitstream
import CFFmpeg
import CamPlatform
import CamSound
import Containers

/// Converts access units to the bytes that a live output sends, once for all
/// receivers. Used by the output's writer.
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

    /// The bytes that each receiver gets before its first unit; known once a unit was framed.
    var prologue: [UInt8] { get }
}

/// An access unit as receivers get it.
///
/// Filled by a `FramedUnitPool` and constant from then on, until the pool finds that it holds the only reference:
/// that justifies `@unchecked Sendable`.
final class FramedUnit: @unchecked Sendable {
    fileprivate(set) var bytes: [UInt8] = []
    /// Precedes `bytes` if these are the first that a receiver gets.
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
        for index in units.indices where holdsOnlyReference(to: &units[index]) { return units[index] }
        let unit = FramedUnit()
        if units.count < Self.limit { units.append(unit) }
        return unit
    }
}

// MARK: - Containers

/// A stream in an endless container, muxed once for all receivers, which may join at any keyframe.
///
/// A transport stream repeats its tables at each keyframe; with Matroska and MP4 each receiver first gets the
/// header. Each access unit is sent at once, in Matroska as a separate cluster, in MP4 as a fragment.
final class ContainerFraming: LiveFraming {
    private let format: ContainerFormat
    private let stream: StreamDescription
    private let library: cformat_library
    private let memory: MuxerMemory
    private var muxer: Muxer?
    private(set) var prologue: [UInt8] = []

    /// Loads libavformat.
    /// - Parameter name: the output's name in messages.
    init(_ format: ContainerFormat, stream: StreamDescription, name: String) throws(OutputError) {
        do throws(ContainerLibrary.Failure) {
            library = try ContainerLibrary.load()
        } catch {
            throw OutputError(error.ofOutput, output: name)
        }
        (self.format, self.stream, memory) = (format, stream, MuxerMemory(name: name))
    }

    /// How long the following pictures last in an MP4; nil for as long as the stream states.
    var frameDuration: Duration?

    func frame(_ unit: AccessUnit, into bytes: inout [UInt8]) throws(OutputError) {
        if muxer == nil { muxer = try begin(with: unit) }
        swap(&memory.bytes, &bytes)
        defer { swap(&memory.bytes, &bytes) }
        if format == .mp4 { return try frameFragment(unit) }
        try muxer?.write(unit, number: unit.frameNumber, timestamp: unit.timestamp)
        if format.hasHeader { try muxer?.flush() }
    }

    var takesSound: Bool { stream.sound != nil }

    func frame(_ sound: SoundPacket, into bytes: inout [UInt8]) throws(OutputError) {
        guard let muxer else { return }
        swap(&memory.bytes, &bytes)
        defer { swap(&memory.bytes, &bytes) }
        try muxer.write(sound)
        if format.hasHeader { try muxer.flush() }
    }

    /// A header applies to everything that follows; a transport stream has the stream's own parameter sets.
    func beginStream() throws(OutputError) {
        if format.hasHeader { throw OutputError(.formatChanged, output: memory.name) }
    }

    private static func options(_ format: ContainerFormat) -> [(name: String, value: String)] {
        switch format {
        case .matroska: format.muxerOptions(pieceDuration: .zero)
        // The header comes before the first picture, and a fragment ends where it is flushed.
        case .mp4: [("movflags", "empty_moov+default_base_moof+frag_custom")]
        // With a picture's length, receivers need not wait for the next one. Packets of sound do not wait for each
        // other.
        case .transportStream:
            format.muxerOptions(pieceDuration: .zero) + [
                ("omit_video_pes_length", "0"), ("pes_payload_size", "0"),
            ]
        }
    }

    private func frameFragment(_ unit: AccessUnit) throws(OutputError) {
        try muxer?.writeFragment(unit)
        try muxer?.flush()
        Muxer.declare(frameDuration ?? stream.frameDuration, in: &memory.bytes)
    }

    private func begin(with keyframe: AccessUnit) throws(OutputError) -> Muxer {
        let muxer = try Muxer(
            format, library: library, stream: stream, keyframe: keyframe,
            options: Self.options(format), to: memory)
        swap(&prologue, &memory.bytes)
        return muxer
    }
}

extension ContainerFormat {
    /// Whether the stream can be read only with its header.
    fileprivate var hasHeader: Bool { self != .transportStream }
}

/// A stream in an endless container, for receivers that may join at any keyframe. Used by one thread.
///
/// Pictures must come in presentation order.
package final class LiveContainer {
    private let framing: ContainerFraming

    /// Loads libavformat.
    /// - Parameter name: the stream's name in messages.
    package init(
        _ format: ContainerFormat, stream: StreamDescription, name: String
    ) throws(OutputError) {
        framing = try ContainerFraming(format, stream: stream, name: name)
    }

    /// The bytes that each receiver gets before its first picture; known once a picture was framed.
    package var prologue: [UInt8] { framing.prologue }

    /// Returns a picture as receivers get it. The first one must be a keyframe.
    /// - Parameter duration: how long the picture will probably last.
    package func frame(_ unit: AccessUnit, lasting duration: Duration) throws(OutputError) -> [UInt8] {
        var bytes: [UInt8] = []
        framing.frameDuration = duration
        try framing.frame(unit, into: &bytes)
        return bytes
    }
}
