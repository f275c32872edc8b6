import Bitstream
import CTestFormat
import CamPictures
import TestSupport
import Testing
import CamPlatform
@testable import Containers

/// A stream from libx264 or libx265, as access units.
struct CodedStream {
    let codec: Codec
    let units: [AccessUnit]
    let reordering: Int

    /// - Parameter timestamps: capture times by a picture's number, in nanoseconds.
    init(
        _ codec: Codec, frames: Int = 60, keyframeInterval: Int = 10, bFrames: Int = 0,
        timestamps: (Int) -> Int64 = { Int64($0) * 33_333_333 }
    ) throws {
        self.codec = codec
        reordering = bFrames == 0 ? 0 : 2
        let packets = Packets()
        let encoding = test_encoding(
            is_hevc: codec == .hevc, frames: Int32(frames), keyframe_interval: Int32(keyframeInterval),
            b_frames: Int32(bFrames))
        let result = test_encode(encoding, Packets.handler, packets.pointer)
        if result == 1 { try Test.cancel("this libavcodec has no encoder for \(codec)") }
        try #require(result == 0)
        var shaper = StreamShaper(pool: AccessUnitPool(codec: codec, limit: 1))
        units = try packets.all.compactMap { packet in
            let bytes = packet.bytes.span.bytes
            return try shaper.shape(
                bytes, frameNumber: Int(packet.presentation), sequence: 0,
                timestamp: Instant(nanoseconds: timestamps(Int(packet.presentation))))
        }
        try #require(units.count == frames)
    }

    /// The pixel aspect for the container.
    var pixelAspect: PixelAspect?

    var description: StreamDescription {
        StreamDescription(
            codec: codec, width: Int(TEST_WIDTH), height: Int(TEST_HEIGHT),
            frameRate: FrameRate(announced: 30, in: 1),
            reordering: reordering,
            color: ColorEncoding(range: .full, matrix: .bt601, primaries: 1, transfer: 13),
            pixelAspect: pixelAspect, encoder: "camrec libx26x")
    }
}

/// What libavformat reads from a container.
struct ContainerContent {
    let container: test_container
    let packets: [Packets.Packet]

    /// Nil if libavformat cannot read it, or finds another number of streams.
    init?(_ path: String, streams: UInt32 = 1) {
        let packets = Packets()
        var container = test_container()
        guard test_read(path, streams, &container, Packets.handler, packets.pointer) == 0 else { return nil }
        self.container = container
        self.packets = packets.all
    }

    var extradata: [UInt8] {
        withUnsafeBytes(of: container.extradata) { Array($0.prefix(Int(container.extradata_count))) }
    }

    var encoder: String {
        withUnsafeBytes(of: container.encoder) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Presentation times in decoding order, in nanoseconds from the first.
    var times: [Int64] {
        let first = packets.map(\.presentation).min() ?? 0
        return packets.map {
            ($0.presentation - first) * Int64(container.numerator) * 1_000_000_000
                / Int64(container.denominator)
        }
    }
}

/// Collects packets that C code passes on.
final class Packets {
    struct Packet: Equatable {
        let bytes: [UInt8]
        let presentation: Int64
        let decoding: Int64
        let isKey: Bool
    }

    private(set) var all: [Packet] = []

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let handler: test_packet_handler = { context, packet in
        guard let context, let packet else { return }
        let bytes = Array(UnsafeBufferPointer(start: packet.pointee.bytes, count: Int(packet.pointee.count)))
        Unmanaged<Packets>.fromOpaque(context).takeUnretainedValue().all.append(
            Packet(
                bytes: bytes, presentation: packet.pointee.presentation, decoding: packet.pointee.decoding,
                isKey: packet.pointee.is_key))
    }
}

extension AccessUnit {
    /// The same picture at a later place in its recording.
    func renumbered(by offset: Int) -> AccessUnit {
        var builder = AccessUnitPool(codec: codec, limit: 1).makeBuilder()
        for unit in units {
            let bytes = Array(allBytes[unit.bytes])
            builder.append(bytes.span.bytes)
        }
        return builder.finish(
            isIDR: isIDR, frameNumber: frameNumber + offset, sequence: sequence, timestamp: timestamp)
    }
}
