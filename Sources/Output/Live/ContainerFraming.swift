import Bitstream
import CFormat
import CamSound

/// A stream in a container without an end, muxed once for all receivers, who may join at any keyframe.
///
/// A transport stream repeats its tables at each of them; the header of Matroska and MP4 is what each receiver gets first.
/// Each access unit leaves at once, in Matroska as a cluster of its own, in MP4 as a fragment.
final class ContainerFraming: LiveFraming {
    private let format: ContainerFormat
    private let stream: StreamDescription
    private let library: cformat_library
    private let memory: MuxerMemory
    private var muxer: Muxer?
    private(set) var prologue: [UInt8] = []

    /// Loads libavformat.
    /// - Parameter name: the output's, in messages.
    init(_ format: ContainerFormat, stream: StreamDescription, name: String) throws(OutputError) {
        do throws(ContainerLibrary.Failure) {
            library = try ContainerLibrary.load()
        } catch {
            throw OutputError(.noContainerLibrary(name: error.name, reason: error.reason), output: name)
        }
        (self.format, self.stream, memory) = (format, stream, MuxerMemory(name: name))
    }

    func frame(_ unit: AccessUnit, into bytes: inout [UInt8]) throws(OutputError) {
        if muxer == nil { muxer = try begin(with: unit) }
        swap(&memory.bytes, &bytes)
        defer { swap(&memory.bytes, &bytes) }
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

    private func begin(with keyframe: AccessUnit) throws(OutputError) -> Muxer {
        let muxer = try Muxer(
            format, library: library, stream: stream, keyframe: keyframe,
            options: Self.options(format), to: memory)
        swap(&prologue, &memory.bytes)
        return muxer
    }
}

extension ContainerFormat {
    /// Whether what follows cannot be read without the stream's beginning.
    fileprivate var hasHeader: Bool { self != .transportStream }
}
