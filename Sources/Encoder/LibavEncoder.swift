import CFFmpeg
import CamAcceleration
import CamPictures
import CamPlatform

/// An open libavcodec encoder, released exactly once.
///
/// Used by one thread. Only libavcodec allocates memory per picture.
struct LibavEncoder: ~Copyable {
    let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let name: String
    private let connection: VADisplayConnection?

    /// - Parameters:
    ///   - options: the encoder's private options. An unknown option is an error.
    ///   - connection: the connection to the encoder's driver; nil for software.
    ///   - configure: sets the context's fields before the encoder opens.
    init(
        name: String, options: [(String, String)], on connection: VADisplayConnection? = nil,
        configure: (UnsafeMutablePointer<AVCodecContext>) throws(EncoderError) -> Void
    ) throws(EncoderError) {
        cffmpeg_keep_log()
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw EncoderError(.openFailed(encoder: name, detail: "this libavcodec was built without it"))
        }
        var allocated = avcodec_alloc_context3(codec)
        var packet = av_packet_alloc()
        // A hanging driver keeps the context and the packet forever.
        var isTaken = false
        defer {
            if !isTaken {
                avcodec_free_context(&allocated)
                av_packet_free(&packet)
            }
        }
        guard let context = allocated, let readyPacket = packet else {
            throw EncoderError(.openFailed(encoder: name, detail: "out of memory"))
        }
        try configure(context)
        for (key, value) in options {
            guard av_opt_set(context, key, value, AV_OPT_SEARCH_CHILDREN) >= 0 else {
                throw EncoderError(.openFailed(encoder: name, detail: "unknown option \(key)=\(value)"))
            }
        }
        isTaken = true
        if let failure = try Self.open(context, codec, on: connection) {
            isTaken = false
            throw EncoderError(.openFailed(encoder: name, detail: failure))
        }
        self.context = context
        self.packet = readyPacket
        self.name = name
        self.connection = connection
    }

    /// The time that opening may take, in seconds; a software encoder takes a small fraction of a second.
    private static let softwarePatience = 15

    /// Opens the encoder, and returns the reason if that fails.
    private static func open(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>,
        on connection: VADisplayConnection?
    ) throws(EncoderError) -> String? {
        func open() -> String? {
            cffmpeg_clear_log()
            let result = avcodec_open2(context, codec, nil)
            return result >= 0 ? nil : LibavMessage.reason(result)
        }
        if let connection { return try connection.encodingCall(open) }
        // libavcodec opens many encoders under one lock, so a hanging driver blocks all others.
        guard let outcome = WatchedThread().run(patience: softwarePatience, open) else {
            throw EncoderError(.hung)
        }
        return outcome
    }

    deinit {
        let (context, packet) = (context, packet)
        func close() {
            var (context, packet) = (Optional(context), Optional(packet))
            avcodec_free_context(&context)
            av_packet_free(&packet)
        }
        // This call may hang, too, if another thread hangs in the driver and holds its lock.
        if let connection { try? connection.call(close) } else { close() }
    }

    /// The parameter sets that the encoder provided on opening, in Annex B form; may be empty.
    var extradata: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: context.pointee.extradata, count: Int(context.pointee.extradata_size))
    }

    /// Sends a picture to the encoder; nil ends the stream.
    ///
    /// Receive every packet before: the encoder then takes the picture at once, and its memory is free after
    /// the call.
    func send(_ frame: UnsafeMutablePointer<AVFrame>?) throws(EncoderError) {
        cffmpeg_clear_log()
        let result = avcodec_send_frame(context, frame)
        guard result >= 0 || (frame == nil && result == CFFMPEG_END_OF_FILE) else {
            throw EncoderError(.encodeFailed(encoder: name, detail: LibavMessage.reason(result)))
        }
    }

    /// Returns the next coded picture, valid until the next call; nil if none is ready, or at the end.
    func receive() throws(EncoderError) -> UnsafeMutablePointer<AVPacket>? {
        cffmpeg_clear_log()
        let result = avcodec_receive_packet(context, packet)
        if result == CFFMPEG_AGAIN || result == CFFMPEG_END_OF_FILE { return nil }
        guard result >= 0 else {
            throw EncoderError(.encodeFailed(encoder: name, detail: LibavMessage.reason(result)))
        }
        return packet
    }
}

extension UnsafeMutablePointer<AVCodecContext> {
    /// Sets the fields that have the same meaning for every libavcodec encoder.
    func configure(_ properties: SessionProperties, _ rates: SessionRates) {
        pointee.width = Int32(properties.size.width)
        pointee.height = Int32(properties.size.height)
        let (numerator, denominator) = (
            Int32(properties.frameRate.numerator), Int32(properties.frameRate.denominator)
        )
        pointee.framerate = AVRational(num: numerator, den: denominator)
        pointee.time_base = AVRational(num: denominator, den: numerator)
        pointee.gop_size = Int32(clamping: properties.framesInGroup)
        pointee.max_b_frames = Int32(properties.bFrames)
        pointee.slices = Int32(properties.slices)
        pointee.color_range = properties.color.range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        pointee.colorspace = AVColorSpace(UInt32(properties.color.matrix.rawValue))
        pointee.color_primaries = AVColorPrimaries(UInt32(properties.color.primaries))
        pointee.color_trc = AVColorTransferCharacteristic(UInt32(properties.color.transfer))
        // libavcodec counts sitings from 1; 0 means unspecified.
        pointee.chroma_sample_location = AVChromaLocation(UInt32(properties.chromaSiting.rawValue) + 1)
        if let aspect = properties.pixelAspect {
            pointee.sample_aspect_ratio = AVRational(num: Int32(aspect.width), den: Int32(aspect.height))
        }
        if let opening = rates.opening {
            pointee.bit_rate = Int64(
                (Double(properties.rateControl.averageForEncoder) - properties.rateModel.messageRate)
                    * opening.scale)
            pointee.rc_max_rate = Int64(opening.rate)
            pointee.rc_buffer_size = Int32(clamping: Int(opening.size))
            pointee.rc_initial_buffer_occupancy = Int32(clamping: Int(opening.room))
        }
    }
}
