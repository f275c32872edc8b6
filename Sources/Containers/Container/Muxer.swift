import Bitstream
import CFFmpeg
import Glibc
import CamSound
import CamPlatform

/// A container that libavformat writes through our callbacks: it opens nothing itself, and sees no file name.
///
/// libavformat allocates for each packet, but does not copy its bytes on the way to the muxer:
/// `av_write_frame` borrows a packet that has no reference count.
package final class Muxer {
    /// The number of bytes written before the first picture.
    private(set) var headerCount = 0

    private let library: cformat_library
    private let file: any MuxerOutput
    private let context: UnsafeMutablePointer<AVFormatContext>
    /// Passes an access unit to libavformat; reused every time.
    private let packet: UnsafeMutablePointer<AVPacket>
    /// Gives pictures and sound their times.
    private(set) var clock: PacketClock
    /// Nil where there is no sound.
    private var soundClock: SoundTicks?
    /// The error of a callback: callbacks can only return to libavformat that they failed.
    private var failure: OutputError?

    /// The parameter sets in the header, as Annex B: not repeated before IDR pictures. Empty for a transport
    /// stream, which has no header.
    private let headerParameterSets: [UInt8]

    /// Whether fragments become valid only when they are complete.
    private let sealsFragments: Bool
    /// Where to write the last fragment's type, as long as it is missing.
    private var seal: Int?

    private static let fragmentType = Array("moof".utf8)
    /// The type of the box with a fragment's defaults (ISO/IEC 14496-12, 8.8.7), and where it ends at the latest.
    private static let trackFragmentHeader = Array("tfhd".utf8)
    private static let longestFragmentHeader = 128
    /// The type of a box whose content readers skip (ISO/IEC 14496-12, 8.1.2).
    private static let skippedType = Array("free".utf8)
    private static let bufferSize: Int32 = 64 << 10
    private static let failed = Int32(CFORMAT_FAILED)

    /// Begins a container and writes its header.
    /// - Parameters:
    ///   - keyframe: the first access unit, with its parameter sets. Not written yet.
    ///   - metadata: metadata for the header.
    ///   - options: options for libavformat.
    ///   - former: the clock at the end of the file that this one continues; nil to begin at 0.
    package init(
        _ format: ContainerFormat, library: cformat_library, stream: StreamDescription, keyframe: AccessUnit,
        metadata: FileMetadata = FileMetadata(), options: [(name: String, value: String)],
        continuing former: PacketClock? = nil, to file: any MuxerOutput
    ) throws(OutputError) {
        let parameterSets = keyframe.parameterSets
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        var context: UnsafeMutablePointer<AVFormatContext>?
        _ = library.alloc_output_context2(&context, nil, format.muxerName, nil)
        var packet = av_packet_alloc()
        guard let context, let packet else {
            library.free_context(context)
            av_packet_free(&packet)
            throw OutputError(.containerFailed(detail: "it has no muxer '\(format)'"), output: file.name)
        }
        (self.library, self.file, self.context, self.packet) = (library, file, context, packet)
        clock = PacketClock(
            ticksPerSecond: Int64(ContainerFormat.ticksPerSecond), stream: stream,
            largestStep: format.largestStep)
        sealsFragments = format == .mp4 && file.isSeekable && !file.isStaged
        headerParameterSets = format == .transportStream ? [] : parameterSets
        try attach(isSeekable: file.isSeekable)
        try addStream(stream, format: format, parameterSets: parameterSets)
        if let sound = stream.sound {
            try addSound(sound)
            // Before FFmpeg 6 called it stable, FLAC in MP4 had to be asked for.
            if sound.codec == .flac { context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL }
        }
        for entry in metadata.entries(for: format) {
            av_dict_set(&context.pointee.metadata, entry.name, entry.value, 0)
        }
        // libavformat would move each file by another lead.
        if format == .transportStream { context.pointee.avoid_negative_ts = 0 }
        let rate = try writeHeader(options)
        clock =
            former?.continued(by: stream)
            ?? PacketClock(
                ticksPerSecond: rate, stream: stream, largestStep: format.largestStep,
                hasLead: format == .transportStream)
        headerCount = file.count
    }

    deinit {
        var io = context.pointee.pb
        if io != nil {
            av_free(io?.pointee.buffer)
            library.free_io_context(&io)
            context.pointee.pb = nil
        }
        library.free_context(context)
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    /// Writes the next access unit in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - timestamp: when it was captured, on any clock.
    package func write(_ unit: AccessUnit, number: Int, timestamp: Instant) throws(OutputError) {
        let times = clock.times(number: number, timestamp: timestamp)
        packet.pointee.pts = times.presentation
        packet.pointee.dts = times.decoding
        packet.pointee.duration = clock.frameTicks
        packet.pointee.flags = unit.isIDR ? AV_PKT_FLAG_KEY : 0
        let result = unit.withUnsafeBytes { whole in
            let known = unit.isIDR && whole.starts(with: headerParameterSets) ? headerParameterSets.count : 0
            return write(bytes: UnsafeRawBufferPointer(rebasing: whole[known...]))
        }
        try check(result)
    }

    /// Writes a picture of a live MP4, which then is a fragment once it is flushed.
    ///
    /// The fragment begins at the picture's own time. libavformat would begin it at the end of the previous fragment or
    /// later, but the duration of a picture is known only when the next one comes. The picture therefore gets the
    /// shortest duration here, and `declare` writes the right one into the fragment.
    package func writeFragment(_ unit: AccessUnit) throws(OutputError) {
        clock.change(frameDuration: .nanoseconds(1))
        try check(av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0))
        try write(unit, number: unit.frameNumber, timestamp: unit.timestamp)
    }

    /// Declares how long the picture of a fragment lasts.
    package static func declare(_ duration: Duration, in fragment: inout [UInt8]) {
        guard let header = fragment.prefix(longestFragmentHeader).firstRange(of: trackFragmentHeader) else {
            return
        }
        // The flags, the track, and what the flags name: neither a place nor an entry before the duration.
        let (flags, place) = (header.upperBound + 3, header.upperBound + 8)
        guard place + 4 <= fragment.count, fragment[flags] & 0xB == 8 else { return }
        let ticks = UInt32(clamping: max(1, duration.ticks(perSecond: Int64(ContainerFormat.ticksPerSecond))))
        for index in 0..<4 { fragment[place + index] = UInt8(truncatingIfNeeded: ticks >> (24 - 8 * index)) }
    }

    /// Writes a packet of sound. Sound that begins before the first picture is left out.
    package func write(_ sound: SoundPacket) throws(OutputError) { try write(sound, at: sound.timestamp) }

    /// Writes a packet of sound at a time other than its timestamp.
    package func write(_ sound: SoundPacket, at timestamp: Instant) throws(OutputError) {
        guard let time = clock.time(at: timestamp), let ticks = soundClock?.ticks(time) else { return }
        packet.pointee.stream_index = 1
        // Only transport streams have a lead, and one clock for pictures and sound.
        (packet.pointee.pts, packet.pointee.dts) = (ticks + clock.lead, ticks + clock.lead)
        packet.pointee.duration = soundClock?.count(sound.duration) ?? 0
        packet.pointee.flags = AV_PKT_FLAG_KEY
        let result = sound.withUnsafeBytes { write(bytes: $0) }
        packet.pointee.stream_index = 0
        try check(result)
    }

    /// Muxers read a packet's bytes and never write to them. Some read beyond its end, where the bytes have the padding
    /// that libavcodec requires of packets.
    private func write(bytes: UnsafeRawBufferPointer) -> Int32 {
        packet.pointee.data = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?
            .assumingMemoryBound(to: UInt8.self)
        packet.pointee.size = Int32(clamping: bytes.count)
        defer { (packet.pointee.data, packet.pointee.size) = (nil, 0) }
        return library.write_frame(context, packet)
    }

    /// Writes out everything that is pending.
    package func flush() throws(OutputError) {
        // The first flush of an MP4 writes its header, the second the fragment.
        for _ in 0..<2 { try check(library.write_frame(context, nil)) }
    }

    /// Writes the container's end, including any index.
    package func finish() throws(OutputError) { try check(library.write_trailer(context)) }

    /// Makes the last fragment of an MP4 valid. Until then it is a box that readers skip: many reject any
    /// file that ends within a fragment's header, as it might after a crash.
    func sealFragment() throws(OutputError) {
        guard let seal else { return }
        self.seal = nil
        try file.seek(to: seal)
        try Self.fragmentType.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try file.write(bytes)
        }
        try file.seek(to: file.count)
    }

    private func attach(isSeekable: Bool) throws(OutputError) {
        let buffer = av_malloc(Int(Self.bufferSize))?.assumingMemoryBound(to: UInt8.self)
        // Safe to leave unretained: the context lives no longer than the muxer.
        let muxer = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.pb = library.alloc_io_context(
            buffer, Self.bufferSize, 1, muxer, nil,
            { muxer, bytes, count in
                guard let muxer, let bytes else { return Muxer.failed }
                return Unmanaged<Muxer>.fromOpaque(muxer).takeUnretainedValue()
                    .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            },
            isSeekable
                ? { muxer, offset, origin in
                    guard let muxer else { return Int64(Muxer.failed) }
                    return Unmanaged<Muxer>.fromOpaque(muxer).takeUnretainedValue()
                        .seek(to: offset, from: origin)
                } : nil)
        guard context.pointee.pb != nil else {
            av_free(buffer)
            throw OutputError(.containerFailed(detail: "out of memory"), output: file.name)
        }
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_FLUSH_PACKETS
        context.pointee.opaque = muxer
        context.pointee.io_open = { context, view, _, _, _ in
            guard let muxer = context?.pointee.opaque, let view else { return Muxer.failed }
            return Unmanaged<Muxer>.fromOpaque(muxer).takeUnretainedValue().openReadBack(view)
        }
        context.pointee.io_close2 = { context, view in
            guard let muxer = context?.pointee.opaque, let view else { return Muxer.failed }
            ReadBack.free(view, Unmanaged<Muxer>.fromOpaque(muxer).takeUnretainedValue().library)
            return 0
        }
    }

    /// Opens the file for reading while it is written: the only file that libavformat may open.
    private func openReadBack(_ view: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>) -> Int32 {
        guard file.isStaged else { return Int32(CFORMAT_REFUSED) }
        view.pointee = file.makeReadBack(library)
        return view.pointee == nil ? Self.failed : 0
    }

    private func addStream(
        _ description: StreamDescription, format: ContainerFormat, parameterSets: [UInt8]
    ) throws(OutputError) {
        let (stream, parameters) = try addStream(configuration: parameterSets)
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = description.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        if format == .mp4 {
            // Apple's players recognize H.265 only by this name (ISO/IEC 14496-15, 8.4).
            parameters.pointee.codec_tag = UInt32(
                description.codec == .h264 ? CFORMAT_TAG_AVC1 : CFORMAT_TAG_HVC1)
        }
        parameters.pointee.width = Int32(clamping: description.width)
        parameters.pointee.height = Int32(clamping: description.height)
        if let color = description.color {
            parameters.pointee.color_primaries = AVColorPrimaries(UInt32(color.primaries))
            parameters.pointee.color_trc = AVColorTransferCharacteristic(UInt32(color.transfer))
            parameters.pointee.color_space = AVColorSpace(UInt32(color.matrix.rawValue))
            parameters.pointee.color_range = color.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        }
        if let aspect = description.pixelAspect {
            let ratio = AVRational(num: Int32(clamping: aspect.width), den: Int32(clamping: aspect.height))
            (parameters.pointee.sample_aspect_ratio, stream.pointee.sample_aspect_ratio) = (ratio, ratio)
        }
        stream.pointee.time_base = AVRational(num: 1, den: ContainerFormat.ticksPerSecond)
        if let rate = description.frameRate {
            stream.pointee.avg_frame_rate = AVRational(
                num: Int32(clamping: rate.numerator), den: Int32(clamping: rate.denominator))
        }
        if let encoder = description.encoder {
            av_dict_set(&stream.pointee.metadata, "encoder", encoder, 0)
        }
    }

    private func addSound(_ sound: SoundDescription) throws(OutputError) {
        let (stream, parameters) = try addStream(configuration: sound.configuration)
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointee.codec_id = sound.codec.identifier
        parameters.pointee.sample_rate = Int32(sound.format.rate)
        av_channel_layout_default(&parameters.pointee.ch_layout, Int32(sound.format.channels))
        parameters.pointee.frame_size = Int32(sound.packetFrames)
        parameters.pointee.bit_rate = Int64(sound.bitRate ?? 0)
        stream.pointee.time_base = AVRational(num: 1, den: Int32(sound.format.rate))
    }

    /// - Parameter configuration: the decoder configuration.
    private func addStream(
        configuration: [UInt8]
    ) throws(OutputError) -> (UnsafeMutablePointer<AVStream>, UnsafeMutablePointer<AVCodecParameters>) {
        guard let stream = library.new_stream(context, nil), let parameters = stream.pointee.codecpar,
            let extradata = av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw OutputError(.containerFailed(detail: "out of memory"), output: file.name) }
        UnsafeMutableRawBufferPointer(start: extradata, count: configuration.count)
            .copyBytes(from: configuration)
        parameters.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: configuration.count)
        return (stream, parameters)
    }

    /// - Returns: ticks a second of the packets' times.
    private func writeHeader(_ wanted: [(name: String, value: String)]) throws(OutputError) -> Int64 {
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        for option in wanted { av_dict_set(&options, option.name, option.value, 0) }
        try check(library.write_header(context, &options))
        // A remaining option is one that libavformat does not know, and without it the file would not survive
        // a crash.
        guard av_dict_count(options) == 0, let rate = ticksPerSecond(ofStream: 0) else {
            throw OutputError(.containerFailed(detail: "unknown option"), output: file.name)
        }
        soundClock = ticksPerSecond(ofStream: 1).map(SoundTicks.init)
        return rate
    }

    /// The ticks that the muxer has chosen for a stream.
    private func ticksPerSecond(ofStream index: Int) -> Int64? {
        guard index < Int(context.pointee.nb_streams), let stream = context.pointee.streams[index] else {
            return nil
        }
        let base = stream.pointee.time_base
        return base.num > 0 && base.den >= base.num ? Int64(base.den / base.num) : nil
    }

    /// Some muxers do not report that writing failed, so our own error takes precedence.
    private func check(_ result: Int32) throws(OutputError) {
        if let failure { throw failure }
        guard result < 0 else { return }
        let detail = String(cString: cffmpeg_last_error())
        cffmpeg_clear_log()
        throw OutputError(
            .containerFailed(detail: detail.isEmpty ? "error \(result)" : detail), output: file.name)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do throws(OutputError) {
            guard failure == nil else { return Self.failed }
            var rest = bytes
            if sealsFragments, file.position == file.keptCount,
                bytes.dropFirst(4).starts(with: Self.fragmentType)
            {
                seal = file.position + 4
                try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<4]))
                try Self.skippedType.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
                    try file.write(bytes)
                }
                rest = UnsafeRawBufferPointer(rebasing: bytes[8...])
            }
            try file.write(rest)
            return Int32(bytes.count)
        } catch {
            failure = error
            return Self.failed
        }
    }

    private func seek(to offset: Int64, from origin: Int32) -> Int64 {
        do throws(OutputError) {
            guard origin == SEEK_SET, offset >= 0, failure == nil else { return Int64(Self.failed) }
            try file.seek(to: Int(offset))
            return offset
        } catch {
            failure = error
            return Int64(Self.failed)
        }
    }
}

extension AccessUnit {
    /// The parameter sets at the beginning of the access unit, as Annex B.
    fileprivate var parameterSets: [UInt8] {
        let end = units.prefix { $0.header.isParameterSet }.last?.bytes.upperBound ?? 0
        return withUnsafeBytes { Array($0[..<end]) }
    }
}
