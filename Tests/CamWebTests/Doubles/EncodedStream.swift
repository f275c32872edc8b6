import Bitstream
import CTestFormat
import TestSupport
import Testing

/// A stream from libx264 or libx265, as its encoder's packets: one picture each, as Annex B.
struct EncodedStream {
    let codec: Codec
    let packets: [[UInt8]]

    init(_ codec: Codec = .h264, frames: Int = 20, keyframeInterval: Int = 10, bFrames: Int = 0) throws {
        let collection = Collection()
        let encoding = test_encoding(
            is_hevc: codec == .hevc, frames: Int32(frames), keyframe_interval: Int32(keyframeInterval),
            b_frames: Int32(bFrames))
        let result = test_encode(
            encoding, Collection.handler, Unmanaged.passUnretained(collection).toOpaque())
        if result == 1 { try Test.cancel("this libavcodec has no encoder for \(codec)") }
        try #require(result == 0 && collection.packets.count == frames)
        (self.codec, packets) = (codec, collection.packets)
    }

    /// All of it.
    var bytes: [UInt8] { packets.flatMap(\.self) }

    private final class Collection {
        var packets: [[UInt8]] = []

        static let handler: test_packet_handler = { context, packet in
            guard let context, let packet else { return }
            let bytes = UnsafeBufferPointer(start: packet.pointee.bytes, count: Int(packet.pointee.count))
            Unmanaged<Collection>.fromOpaque(context).takeUnretainedValue().packets.append(Array(bytes))
        }
    }
}
