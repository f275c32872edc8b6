import CamAcceleration
import CFFmpeg

/// Encodes pictures as PNG files (ISO/IEC 15948), with libavcodec.
public enum PNGImage {
    /// Returns the file's bytes.
    /// - Parameter frame: RGB, eight bits a sample, at most as large as the format allows.
    public static func encode(_ frame: UnsafePointer<AVFrame>) throws(ImageError) -> [UInt8] {
        cffmpeg_keep_log()
        guard let encoder = avcodec_find_encoder(AV_CODEC_ID_PNG) else {
            throw .pngFailed(detail: "this libavcodec was built without its encoder")
        }
        var (allocated, allocatedPacket) = (avcodec_alloc_context3(encoder), av_packet_alloc())
        defer {
            avcodec_free_context(&allocated)
            av_packet_free(&allocatedPacket)
        }
        guard let context = allocated, let packet = allocatedPacket else { throw .outOfMemory }
        context.pointee.pix_fmt = AV_PIX_FMT_RGB24
        context.pointee.width = frame.pointee.width
        context.pointee.height = frame.pointee.height
        context.pointee.time_base = AVRational(num: 1, den: 1)
        cffmpeg_clear_log()
        try check(avcodec_open2(context, encoder, nil))
        try check(avcodec_send_frame(context, frame))
        try check(avcodec_send_frame(context, nil))
        try check(avcodec_receive_packet(context, packet))
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }

    /// Returns the file's bytes.
    /// - Parameters:
    ///   - rgb: bytes R, G, B, in rows without padding.
    ///   - metadata: stored in an `eXIf` chunk.
    public static func encode(
        rgb: UnsafeMutableRawBufferPointer, width: Int, height: Int, metadata: ExifMetadata
    ) throws(ImageError) -> [UInt8] {
        var allocated = av_frame_alloc()
        defer { av_frame_free(&allocated) }
        guard let frame = allocated, rgb.count >= 3 * width * height else { throw .outOfMemory }
        frame.pointee.format = AV_PIX_FMT_RGB24.rawValue
        (frame.pointee.width, frame.pointee.height) = (Int32(width), Int32(height))
        frame.pointee.data.0 = rgb.baseAddress?.assumingMemoryBound(to: UInt8.self)
        frame.pointee.linesize.0 = Int32(3 * width)
        var file = try encode(frame)
        guard file.count > headerLength else { throw .pngFailed(detail: "libavcodec returned no picture") }
        file.insert(contentsOf: chunk("eXIf", metadata.tiff), at: headerLength)
        return file
    }

    /// The signature, and the header's chunk (IHDR).
    private static let headerLength = 8 + 12 + 13

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + content
        return bigEndian(UInt32(content.count)) + checked + bigEndian(checksum(of: checked))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }

    /// CRC-32 (ISO/IEC 15948, annex D).
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
    }

    private static func check(_ result: Int32) throws(ImageError) {
        guard result < 0 else { return }
        throw .pngFailed(detail: LibavMessage.reason(result))
    }
}
