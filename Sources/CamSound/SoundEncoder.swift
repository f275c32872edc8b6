import CFFmpeg
import CSound
import CamPlatform

/// Codes samples with libavcodec. Used by one thread.
public final class SoundEncoder {
    /// The coded stream, as a container declares it.
    public let description: SoundDescription

    private let codec: SoundCodec
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let packet: UnsafeMutablePointer<AVPacket>
    private var pool = SoundPacketPool()
    /// The number of frames filled into `frame`.
    private var filled = 0
    /// The number of frames before the first frame in `frame`.
    private var position: Int64 = 0

    /// Pointers to the storage of the next frames: one for each plane, or one for interleaved samples.
    typealias Planes = InlineArray<8, UnsafeMutablePointer<UInt8>?>

    /// Opens an encoder.
    /// - Parameter bitRate: bits a second, which the codec need not use up; nil for the usual rate.
    public init(_ codec: SoundCodec, channels: Int, bitRate: Int? = nil) throws(SoundError) {
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        guard let encoder = avcodec_find_encoder_by_name(codec.encoderName) else {
            throw SoundError(.noEncoder(name: codec.encoderName), codec.name)
        }
        guard let context = avcodec_alloc_context3(encoder) else { throw Self.noMemory(codec) }
        var owned: UnsafeMutablePointer<AVCodecContext>? = context
        let format = SoundFormat(rate: SoundCodec.rate, channels: channels)
        let bits =
            bitRate.map { min($0, codec.highestBitRate(channels: channels)) }
            ?? codec.usualBitRate(channels: channels)
        Self.configure(context, codec, format, bits)
        let result = avcodec_open2(context, encoder, nil)
        guard result == 0 else {
            avcodec_free_context(&owned)
            throw Self.failure(codec, result)
        }
        var (frame, packet) = (av_frame_alloc(), av_packet_alloc())
        guard let picture = frame, let parcel = packet, Self.allocate(picture, for: context) else {
            av_frame_free(&frame)
            av_packet_free(&packet)
            avcodec_free_context(&owned)
            throw Self.noMemory(codec)
        }
        (self.codec, self.context, self.frame, self.packet) = (codec, context, picture, parcel)
        let configuration = UnsafeBufferPointer(
            start: context.pointee.extradata, count: Int(context.pointee.extradata_size))
        description = SoundDescription(
            codec: codec, format: format, bitRate: bits, configuration: Array(configuration),
            packetFrames: Int(context.pointee.frame_size))
    }

    deinit {
        var (frame, packet, context) = (Optional(frame), Optional(packet), Optional(context))
        av_frame_free(&frame)
        av_packet_free(&packet)
        avcodec_free_context(&context)
    }

    /// How many frames have been filled in since the first.
    var count: Int64 { position + Int64(filled) }

    /// The frames' format.
    var format: SoundFormat { description.format }

    /// The samples that it takes.
    var sampleFormat: AVSampleFormat { codec.sampleFormat }

    /// Lets the caller fill in the next frames, and encodes a packet once it has enough frames.
    /// - Parameters:
    ///   - start: the capture time of the very first frame.
    ///   - write: receives the storage and the room in frames, and returns the number of frames written.
    ///   - deliver: receives coded packets.
    /// - Returns: the number of frames written, and the room that there was.
    func fill(
        start: Instant, _ write: (inout Planes, Int) -> Int, _ deliver: (SoundPacket) -> Void
    ) throws(SoundError) -> (written: Int, room: Int) {
        let room = description.packetFrames - filled
        var planes = Planes(repeating: nil)
        for plane in 0..<planeCount {
            planes[plane] = frame.pointee.extended_data[plane].map { $0 + filled * stride }
        }
        let written = write(&planes, room)
        filled += written
        if filled == description.packetFrames { try encode(start, deliver) }
        return (written, room)
    }

    /// Fills the storage of the next frames with silence.
    /// - Returns: the number of frames.
    func silence(in planes: inout Planes, frames: Int) -> Int {
        for plane in 0..<planeCount { planes[plane]?.initialize(repeating: 0, count: frames * stride) }
        return frames
    }

    /// Jumps ahead in time without encoding. Possible only between two packets.
    /// - Returns: the number of frames skipped, a multiple of the packet length; nil within a packet.
    func skip(_ frames: Int) -> Int? {
        guard filled == 0 else { return nil }
        let jump = frames / description.packetFrames * description.packetFrames
        position += Int64(jump)
        return jump
    }

    private var isPlanar: Bool { av_sample_fmt_is_planar(sampleFormat) != 0 }

    private var planeCount: Int { isPlanar ? min(format.channels, 8) : 1 }

    /// Bytes of a plane for each frame.
    private var stride: Int { Int(av_get_bytes_per_sample(sampleFormat)) * (isPlanar ? 1 : format.channels) }

    private func encode(_ start: Instant, _ deliver: (SoundPacket) -> Void) throws(SoundError) {
        frame.pointee.pts = position
        (position, filled) = (position + Int64(filled), 0)
        try check(avcodec_send_frame(context, frame))
        while true {
            let result = avcodec_receive_packet(context, packet)
            if result == CFFMPEG_AGAIN { break }
            try check(result)
            let made = pool.make(
                packet, timestamp: start + format.duration(of: Int(packet.pointee.pts)),
                duration: format.duration(of: Int(packet.pointee.duration)))
            guard let made else { throw Self.noMemory(codec) }
            deliver(made)
        }
        // The encoder may still refer to the samples.
        try check(av_frame_make_writable(frame))
    }

    private func check(_ result: Int32) throws(SoundError) {
        if result < 0 { throw Self.failure(codec, result) }
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ codec: SoundCodec, _ format: SoundFormat,
        _ bitRate: Int?
    ) {
        context.pointee.sample_fmt = codec.sampleFormat
        context.pointee.sample_rate = Int32(format.rate)
        context.pointee.time_base = AVRational(num: 1, den: Int32(format.rate))
        csound_set_layout(&context.pointee.ch_layout, Int32(format.channels))
        if let bitRate { context.pointee.bit_rate = Int64(bitRate) }
        if let frameSize = codec.frameSize { context.pointee.frame_size = frameSize }
        context.pointee.flags |= Int32(AV_CODEC_FLAG_GLOBAL_HEADER)
    }

    private static func allocate(
        _ frame: UnsafeMutablePointer<AVFrame>, for context: UnsafeMutablePointer<AVCodecContext>
    ) -> Bool {
        frame.pointee.format = context.pointee.sample_fmt.rawValue
        frame.pointee.sample_rate = context.pointee.sample_rate
        frame.pointee.nb_samples = context.pointee.frame_size
        guard context.pointee.frame_size > 0,
            av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout) == 0
        else { return false }
        return av_frame_get_buffer(frame, 0) == 0
    }

    private static func noMemory(_ codec: SoundCodec) -> SoundError {
        SoundError(.encoderFailed(reason: "out of memory"), codec.name)
    }

    private static func failure(_ codec: SoundCodec, _ result: Int32) -> SoundError {
        let message = String(cString: cffmpeg_last_error())
        cffmpeg_clear_log()
        return SoundError(.encoderFailed(reason: message.isEmpty ? "error \(result)" : message), codec.name)
    }
}
