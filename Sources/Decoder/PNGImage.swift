import Acceleration
import CFFmpeg

/// Encodes pictures as PNG files, with libavcodec.
public enum PNGImage {
    /// Returns the file's bytes: the picture as RGB, at its own size.
    public static func encode(_ picture: consuming DecodedPicture) throws(DecoderError) -> [UInt8] {
        let image = try PictureConverter(to: .rgb24).convert(picture)
        cffmpeg_keep_log()
        guard let encoder = avcodec_find_encoder(AV_CODEC_ID_PNG) else {
            throw DecoderError(.imageFailed(detail: "this libavcodec was built without its encoder"))
        }
        var (allocated, allocatedPacket) = (avcodec_alloc_context3(encoder), av_packet_alloc())
        defer {
            avcodec_free_context(&allocated)
            av_packet_free(&allocatedPacket)
        }
        guard let context = allocated, let packet = allocatedPacket else { throw DecoderError(.outOfMemory) }
        context.pointee.pix_fmt = AV_PIX_FMT_RGB24
        context.pointee.width = Int32(image.width)
        context.pointee.height = Int32(image.height)
        context.pointee.time_base = AVRational(num: 1, den: 1)
        cffmpeg_clear_log()
        try check(avcodec_open2(context, encoder, nil))
        try check(avcodec_send_frame(context, image.frame))
        try check(avcodec_send_frame(context, nil))
        try check(avcodec_receive_packet(context, packet))
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }

    private static func check(_ result: Int32) throws(DecoderError) {
        guard result < 0 else { return }
        throw DecoderError(.imageFailed(detail: LibavMessage.reason(result)))
    }
}
