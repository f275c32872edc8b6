import CamAcceleration
import Bitstream
import CFFmpeg
import CVAAPI
import CamPlatform

/// An open libavcodec decoder for one set of parameter sets, released exactly once.
///
/// Used by one thread, though libavcodec may decode a picture's slices on others.
final class LibavDecoder {
    /// The parameter sets that the session was opened with.
    let parameterSets: ParameterSets
    /// The GPU that decodes; nil for software.
    let connection: VADisplayConnection?
    /// The output order that the stream declares.
    let reordering: PictureReordering?
    /// The access units sent whose pictures are still to come.
    var pending = PendingPictures()
    /// Whether no more access units are accepted until `flush`.
    private(set) var isDraining = false
    /// Whether libavcodec found a reference missing in the access unit sent last.
    private(set) var lacksReferences = false
    /// Whether the software decoder of H.264 has reported any problem since it was opened.
    private(set) var isTainted = false
    private let configuration: DecoderConfiguration
    private let threadCount: Int32
    private var context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let watch: OpaquePointer
    private var arrivals = ArrivalTimes()

    /// The most threads on which libavcodec decodes the slices of a picture.
    private static let maximumThreadCount: Int32 = 4

    /// - Parameter leastDelay: the number of pictures to hold back even if the stream declares fewer.
    init(
        _ configuration: DecoderConfiguration, entry: borrowing ReceivedAccessUnit, leastDelay: Int,
        on connection: VADisplayConnection?
    ) throws(DecoderError) {
        cffmpeg_keep_log()
        self.configuration = configuration
        self.connection = connection
        parameterSets = entry.parameterSets
        reordering = entry.reordering
        threadCount = entry.allowsThreads ? min(Self.maximumThreadCount, max(1, av_cpu_count())) : 1
        var allocatedPacket = av_packet_alloc()
        guard let packet = allocatedPacket, let watch = cffmpeg_watch_alloc() else {
            av_packet_free(&allocatedPacket)
            throw DecoderError(.outOfMemory)
        }
        do throws(DecoderError) {
            context = try Self.open(
                configuration, parameterSets, threadCount: threadCount,
                delay: max(leastDelay, configuration.delay.depth(entry.reordering)),
                watch: watch, watchesBlocks: entry.reordering?.hasFields == false, on: connection)
        } catch {
            av_packet_free(&allocatedPacket)
            cffmpeg_watch_free(watch)
            throw error
        }
        (self.packet, self.watch) = (packet, watch)
    }

    private static func open(
        _ configuration: DecoderConfiguration, _ parameterSets: ParameterSets, threadCount: Int32, delay: Int,
        watch: OpaquePointer, watchesBlocks: Bool, on connection: VADisplayConnection?
    ) throws(DecoderError) -> UnsafeMutablePointer<AVCodecContext> {
        let codec = configuration.codec
        guard let decoder = avcodec_find_decoder(codec.libavcodecID) else {
            throw DecoderError(.noDecoder(codec))
        }
        var allocated = avcodec_alloc_context3(decoder)
        var isOpen = false
        defer { if !isOpen { avcodec_free_context(&allocated) } }
        guard let context = allocated else { throw DecoderError(.outOfMemory) }
        context.pointee.opaque = UnsafeMutableRawPointer(watch)
        context.configure(configuration, delay: delay)
        context.pointee.thread_count = threadCount
        guard context.setExtradata(parameterSets.annexB) else { throw DecoderError(.outOfMemory) }
        if let connection {
            let (device, code) = try connection.decodingCall { connection.makeDevice() }
            guard let device else {
                throw DecoderError(.openFailed(codec, detail: LibavMessage.reason(code)))
            }
            context.pointee.hw_device_ctx = device
        }
        // Until the second field of a frame arrives, half of the frame is missing.
        if watchesBlocks { cffmpeg_watch_blocks(context) }
        cffmpeg_clear_log()
        let result = avcodec_open2(context, decoder, nil)
        guard result >= 0 else {
            throw DecoderError(.openFailed(codec, detail: LibavMessage.reason(result)))
        }
        isOpen = true
        return context
    }

    deinit {
        let (context, packet, watch) = (context, packet, watch)
        func close() {
            var (context, packet) = (Optional(context), Optional(packet))
            avcodec_free_context(&context)
            av_packet_free(&packet)
            cffmpeg_watch_free(watch)
        }
        // If the driver hangs, its resources are leaked.
        if let connection { try? connection.call(close) } else { close() }
    }

    /// Whether an access unit can be sent.
    func takes(_ unit: borrowing ReceivedAccessUnit) -> Bool {
        unit.allowsThreads || context.pointee.thread_count == 1
    }

    /// Sends an access unit, without copying it. Receive all pending pictures first.
    /// - Parameter isHidden: whether its picture is not output.
    /// - Returns: the complaint of libavcodec; nil if there is none.
    /// - Throws: if a GPU's driver hangs; the session is then unusable.
    func send(
        _ unit: borrowing ReceivedAccessUnit, isHidden: Bool = false
    ) throws(DecoderError) -> String? {
        guard let reference = unit.bytes.reference() else { throw DecoderError(.outOfMemory) }
        (packet.pointee.buf, packet.pointee.data) = (reference, reference.pointee.data)
        packet.pointee.size = Int32(clamping: unit.byteCount)
        packet.pointee.pts = Int64(unit.number)
        packet.pointee.flags = isHidden ? AV_PKT_FLAG_DISCARD : 0
        arrivals.note(unit.arrival, of: unit.number)
        guard let connection else { return sendPacket() }
        return try connection.decodingCall { self.sendPacket() }
    }

    private func sendPacket() -> String? {
        _ = cffmpeg_watch_take_errors(watch)
        _ = cffmpeg_watch_take_missing_references(watch)
        cffmpeg_clear_log()
        let result = avcodec_send_packet(context, packet)
        av_packet_unref(packet)
        lacksReferences = cffmpeg_watch_take_missing_references(watch) > 0
        return complaint(result)
    }

    /// Discards all pictures, and decodes those of a history again without output.
    func restore(_ history: CodedHistory) throws(DecoderError) {
        try reopen()
        try history.forEach { (bytes) throws(DecoderError) in
            // Followed by zero padding.
            guard av_new_packet(packet, Int32(clamping: bytes.count)) >= 0 else {
                throw DecoderError(.outOfMemory)
            }
            UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: bytes.count).copyMemory(
                from: bytes)
            avcodec_send_packet(context, packet)
            av_packet_unref(packet)
            while let frame = try receive().frame { _ = DecodedPicture(taking: frame) }
        }
    }

    /// Tells the watch that decoding begins.
    /// - Parameter isAmid: whether the next pictures may formally refer to earlier ones without needing them.
    func begin(amid isAmid: Bool) { cffmpeg_watch_begins_amid(watch, isAmid ? 1 : 0) }

    /// Ends the input until `flush`, so that pictures held back can be received.
    func drain() {
        isDraining = true
        _ = avcodec_send_packet(context, nil)
    }

    /// Discards all pictures, so that decoding can begin at an entry point.
    func flush() throws(DecoderError) {
        if isTainted { return try reopen() }
        isDraining = false
        avcodec_flush_buffers(context)
    }

    /// Replaces libavcodec's decoder. That of H.264 keeps the coefficients of a block in which it stopped,
    /// even when flushed, and adds them to a later picture.
    func reopen() throws(DecoderError) {
        let fresh = try Self.open(
            configuration, parameterSets, threadCount: threadCount, delay: delay, watch: watch,
            watchesBlocks: reordering?.hasFields == false, on: connection)
        var former = Optional(context)
        avcodec_free_context(&former)
        context = fresh
        (isDraining, isTainted) = (false, false)
    }

    /// The number of pictures that libavcodec holds back for reordering. libavcodec raises it if an H.264
    /// stream reorders without declaring that.
    var delay: Int { Int(context.pointee.has_b_frames) }

    /// The most pictures that may be pending after all available ones were received: those held back, and a
    /// frame with only one field so far.
    var pendingLimit: Int { isDraining ? 0 : delay + (reordering?.hasFields == true ? 1 : 0) }

    /// Holds back one more picture if the stream reorders further than it declares: libavcodec trusts
    /// the declaration and drops pictures that come too late.
    /// - Returns: false if that cannot help.
    func raiseDelay() -> Bool {
        guard let reordering, reordering.maximumDepth > 0, delay < PictureReordering.limit else {
            return false
        }
        context.pointee.has_b_frames += 1
        return true
    }

    /// The result of receiving a picture.
    struct Received {
        /// The next picture, which the caller owns; nil if there is none yet.
        var frame: UnsafeMutablePointer<AVFrame>?
        /// The complaint of libavcodec, if any.
        var complaint: String?
        /// Whether libavcodec marked this picture as damaged.
        var isDamaged = false
    }

    /// Receives the next picture.
    /// - Throws: if memory ran out or a GPU's driver hangs; the session is then unusable.
    func receive() throws(DecoderError) -> Received {
        guard let frame = av_frame_alloc() else { throw DecoderError(.outOfMemory) }
        guard let connection else { return receive(into: frame) }
        return try connection.decodingCall { self.receive(into: frame) }
    }

    private func receive(into received: UnsafeMutablePointer<AVFrame>) -> Received {
        cffmpeg_clear_log()
        var frame = Optional(received)
        let result = avcodec_receive_frame(context, received)
        let isNone = result == CFFMPEG_AGAIN || result == CFFMPEG_END_OF_FILE
        let complaint = complaint(isNone ? 0 : result)
        guard result >= 0 else {
            av_frame_free(&frame)
            return Received(complaint: complaint)
        }
        // libavcodec would use the time of the latest packet sent, and no time while draining.
        received.pointee.pkt_dts = arrivals.arrival(of: received.pointee.pts)?.nanoseconds ?? CFFMPEG_NO_TIME
        let isDamaged = received.pointee.decode_error_flags != 0
        return Received(
            frame: received, complaint: complaint ?? (isDamaged ? "a damaged slice" : nil),
            isDamaged: isDamaged)
    }

    private func complaint(_ result: Int32) -> String? {
        let hasErrors = cffmpeg_watch_take_errors(watch) > 0
        let missingBlocks = cffmpeg_watch_take_missing_blocks(watch)
        let isDamaged = hasErrors || result < 0 || missingBlocks > 0
        if configuration.codec == .h264, connection == nil, isDamaged { isTainted = true }
        guard hasErrors || result < 0 else {
            return missingBlocks > 0 ? "parts of a picture are missing: \(missingBlocks) blocks" : nil
        }
        return LibavMessage.reason(result < 0 ? result : Int32(CFFMPEG_INVALID_DATA))
    }
}

extension UnsafeMutablePointer<AVCodecContext> {
    fileprivate func configure(_ configuration: DecoderConfiguration, delay: Int) {
        pointee.pkt_timebase = AVRational(num: 1, den: 1)
        // Verifies checksums of pictures, if the stream has them.
        pointee.err_recognition |= AV_EF_CRCCHECK
        pointee.max_pixels = Int64(configuration.maximumSampleCount)
        // Each frame thread would delay the pictures by one.
        pointee.thread_type = FF_THREAD_SLICE
        if delay == 0 { pointee.flags |= AV_CODEC_FLAG_LOW_DELAY }
        // The decoder of H.264 starts with this value, which demuxers usually set; that of H.265 uses the
        // declared one.
        pointee.has_b_frames = Int32(delay)
        // On a GPU, pictures held back come from the same pool as references.
        pointee.extra_hw_frames = Int32(delay)
        // camrec decides which pictures are correct after a recovery point: while draining, H.264's decoder
        // treats the first that it considers incorrect as the end.
        pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
        if configuration.lossPolicy == .freeze, configuration.codec == .h264 {
            // Error concealment in H.264's decoder would hide that blocks are missing.
            av_opt_set_int(pointee.priv_data, "enable_er", 0, 0)
        }
    }

    /// Sets the parameter sets for the decoder.
    /// - Returns: false if there is no memory.
    fileprivate func setExtradata(_ bytes: [UInt8]) -> Bool {
        guard let memory = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return false }
        UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyBytes(from: bytes)
        pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        pointee.extradata_size = Int32(bytes.count)
        return true
    }
}

extension DecoderConfiguration.Delay {
    /// The number of pictures to hold back for reordering.
    fileprivate func depth(_ reordering: PictureReordering?) -> Int {
        switch self {
        case .low: reordering?.declaredDepth ?? 0
        case .safe: reordering?.maximumDepth ?? PictureReordering.limit
        }
    }
}

extension Codec {
    fileprivate var libavcodecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        }
    }
}

extension CodedBytes {
    /// A reference for libavcodec, which keeps the bytes as long as it needs them; nil if there is no memory.
    fileprivate func reference() -> UnsafeMutablePointer<AVBufferRef>? {
        let bytes = UnsafeMutablePointer(mutating: content.assumingMemoryBound(to: UInt8.self).baseAddress)
        let kept = Unmanaged.passRetained(self)
        let reference = av_buffer_create(
            bytes, content.count,
            { owner, _ in owner.map { Unmanaged<CodedBytes>.fromOpaque($0).release() } },
            kept.toOpaque(), AV_BUFFER_FLAG_READONLY)
        if reference == nil { kept.release() }
        return reference
    }
}
