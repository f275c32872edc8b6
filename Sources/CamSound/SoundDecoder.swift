import CFFmpeg
import CSound
import CamPlatform

/// Decodes sound with libavcodec to what a loudspeaker takes: interleaved samples of 16 bits. Used by one thread.
public final class SoundDecoder {
    /// The format of the decoded samples.
    public let output: SoundFormat

    private let name: String
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let packet: UnsafeMutablePointer<AVPacket>
    /// Nil before the first samples.
    private var resampler: SoundResampler?
    private var samples: [Int16] = []

    /// Other rates are invalid, and a very high one would exhaust memory.
    private static let rates = 4_000...768_000

    /// Opens a decoder.
    /// - Parameter output: the format of the decoded samples, with one or two channels.
    public init(_ description: SoundDescription, output: SoundFormat) throws(SoundError) {
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        self.output = output
        name = description.codec.name
        guard let decoder = avcodec_find_decoder(description.codec.identifier) else {
            throw SoundError(.decoderFailed(reason: "libavcodec has none"), name)
        }
        var (context, frame, packet) = (avcodec_alloc_context3(decoder), av_frame_alloc(), av_packet_alloc())
        func release() {
            avcodec_free_context(&context)
            av_frame_free(&frame)
            av_packet_free(&packet)
        }
        let count = description.configuration.count
        guard let opened = context, let picture = frame, let parcel = packet,
            let extradata = av_mallocz(count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else {
            release()
            throw SoundError(.decoderFailed(reason: "out of memory"), name)
        }
        UnsafeMutableRawBufferPointer(start: extradata, count: count).copyBytes(
            from: description.configuration)
        opened.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        opened.pointee.extradata_size = Int32(clamping: count)
        opened.pointee.sample_rate = Int32(clamping: description.format.rate)
        opened.pointee.thread_count = 1
        csound_set_layout(&opened.pointee.ch_layout, Int32(clamping: description.format.channels))
        let result = avcodec_open2(opened, decoder, nil)
        guard result == 0 else {
            release()
            throw SoundError(.decoderFailed(reason: Self.reason(result)), name)
        }
        (self.context, self.frame, self.packet) = (opened, picture, parcel)
    }

    deinit {
        var (context, frame, packet) = (Optional(context), Optional(frame), Optional(packet))
        avcodec_free_context(&context)
        av_frame_free(&frame)
        av_packet_free(&packet)
    }

    /// Decodes a packet.
    /// - Parameter body: receives samples, which must not be used after the call. Called once for each
    ///   decoded frame, and not at all for a damaged packet.
    public func decode(
        _ coded: SoundPacket, _ body: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(SoundError) {
        let result = coded.withUnsafeBytes { bytes in
            // Without a reference count, libavcodec copies the bytes.
            packet.pointee.data = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?
                .assumingMemoryBound(to: UInt8.self)
            packet.pointee.size = Int32(clamping: bytes.count)
            defer { (packet.pointee.data, packet.pointee.size) = (nil, 0) }
            return avcodec_send_packet(context, packet)
        }
        guard result == 0 else { return }
        while avcodec_receive_frame(context, frame) == 0 {
            defer { av_frame_unref(frame) }
            try convert(body)
        }
    }

    /// Slows the following samples down so that the next second lasts longer by
    /// `duration`, or shorter if negative.
    public func stretch(by duration: Duration) {
        resampler?.stretch(by: duration.inSeconds * Double(output.rate), drift: 0)
    }

    private func convert(_ body: (UnsafeBufferPointer<Int16>) -> Void) throws(SoundError) {
        let (count, rate) = (Int(frame.pointee.nb_samples), Int(frame.pointee.sample_rate))
        let input = SoundFormat(rate: rate, channels: Int(frame.pointee.ch_layout.nb_channels))
        guard count > 0, input.channels > 0, Self.rates.contains(rate),
            let planes = frame.pointee.extended_data
        else { return }
        let format = AVSampleFormat(frame.pointee.format)
        if resampler?.input != input || resampler?.inputSamples != format {
            do throws(SoundError) {
                resampler = try SoundResampler(input, format, to: output, AV_SAMPLE_FMT_S16)
            } catch { throw SoundError(.decoderFailed(reason: "it cannot be converted: \(input)"), name) }
        }
        guard let resampler else { return }
        let room = resampler.delay + count * output.rate / rate + Self.spare
        if samples.count < room * output.channels {
            samples = Array(repeating: 0, count: room * output.channels)
        }
        samples.withUnsafeMutableBufferPointer { samples in
            let source = UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
            var target = UnsafeMutableRawPointer(samples.baseAddress)?.assumingMemoryBound(to: UInt8.self)
            let written = resampler.convert(source, frames: count, into: &target, room: room)
            body(UnsafeBufferPointer(rebasing: samples[..<(written * output.channels)]))
        }
    }

    /// Room for the frames that stretching and rounding add.
    private static let spare = 256

    private static func reason(_ result: Int32) -> String {
        let message = String(cString: cffmpeg_last_error())
        cffmpeg_clear_log()
        return message.isEmpty ? "error \(result)" : message
    }
}
