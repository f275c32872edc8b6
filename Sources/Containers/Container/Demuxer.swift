import Bitstream
import CFFmpeg
import CamSound
import CamPlatform

/// A container that libavformat reads through our callbacks: it opens nothing itself, and sees neither the
/// file's name nor any file that the container refers to.
final class Demuxer {
    /// What comes next in the file.
    enum Reading {
        case packet(Packet)
        /// Something unreadable that was skipped, in libavformat's words.
        case damage(String)
        case end
    }

    /// A packet as stored in the file, valid until the next packet is read.
    struct Packet {
        package let bytes: UnsafeRawBufferPointer
        /// Whether it is sound rather than a picture.
        let isSound: Bool
        /// Nil if the file does not say.
        package let time: Duration?
        /// Whether libavformat found it damaged.
        let isDamaged: Bool
        /// Whether it is only a reference for other pictures, and not shown.
        let isHidden: Bool
        /// The decoder configuration from here on; nil if it does not change.
        package let configuration: [UInt8]?
    }

    private let input: ContainerInput
    private let kind: StreamContainer
    private let name: String
    private let library: cformat_library
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var io: UnsafeMutablePointer<AVIOContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private let takesSound: Bool
    private var streamIndex = 0
    private var soundIndex: Int?
    /// The file's content besides video, in words.
    private(set) var leftOut: [String] = []
    /// The result that was read along with reported damage, and is delivered next.
    private var pending: Pending?

    private enum Pending { case packet, end }

    /// A Matroska file's own structure; nil for other containers, and for streams.
    private var blocks: MatroskaBlocks?
    /// A transport stream's own structure; nil for other containers, and for streams.
    private var packets: TransportPackets?
    /// The number of pictures delivered since the beginning; nil after a seek, or if
    /// damage explains missing pictures.
    private var deliveredCount: Int? = 0

    /// The latest picture's decoding time and place.
    private var latest: (time: Int64, place: Int64)?
    /// Whether pictures that libavformat marks as hidden belong to another file, whose times start again.
    private var startsAgain = false
    /// Whether libavformat delivered data twice.
    private var hasRepeats = false

    /// The packet after `packet`, and the result of reading it. Transport streams are read one packet ahead:
    /// only the end of the file shows that the last packet is cut off.
    private var following: UnsafeMutablePointer<AVPacket>?
    private var ahead: Result<Step, InputError>?

    /// The result of reading a packet.
    fileprivate struct Step {
        /// Whether the file has ended.
        let isEnd: Bool
        /// The damage before the packet, in words; empty if there is none.
        let damage: String
    }

    /// The largest single allocation of libav*: no file can exhaust the machine's memory.
    private static let largestAllocation = 512 << 20
    /// The most bytes of a transport stream that are searched for its tables: a stream joined in the middle
    /// may begin without any.
    private static let streamProbe: Int64 = 1 << 20
    /// Times beyond this, 36 years, are invalid.
    private static let farthestTime = Duration.nanoseconds(1 << 60)

    /// Opens the container.
    /// - Parameters:
    ///   - name: its name in messages.
    ///   - takesSound: whether the first sound is read as well, if it has one of camrec's codecs.
    init(
        _ input: ContainerInput, kind: StreamContainer, name: String, takesSound: Bool
    ) throws(InputError) {
        (self.input, self.kind, self.name, self.takesSound) = (input, kind, name, takesSound)
        do throws(ContainerLibrary.Failure) {
            library = try ContainerLibrary.load()
        } catch {
            throw InputError(error.ofInput, input: name)
        }
        cffmpeg_keep_log()
        cffmpeg_clear_log()
        av_max_alloc(Self.largestAllocation)
        packet = av_packet_alloc()
        following = av_packet_alloc()
        io = input.makeContext(library)
        context = library.alloc_context()
        guard packet != nil, following != nil, let io, let context else { throw malformed("out of memory") }
        context.pointee.pb = io
        if !input.isFile { context.pointee.probesize = Self.streamProbe }
        context.pointee.io_open = { _, _, _, _, _ in Int32(CFORMAT_REFUSED) }
        // A failure frees the context.
        let result = library.open_input(
            &self.context, nil, library.find_input_format(kind.demuxerName), nil)
        try check(result)
        try selectStreams()
        guard let descriptor = input.descriptor else { return }
        switch kind {
        case .matroska: blocks = MatroskaBlocks(of: descriptor)
        case .mp4: break
        case .transportStream:
            packets = self.context.flatMap { context in
                context.pointee.streams[streamIndex].flatMap {
                    TransportPackets(of: descriptor, video: Int($0.pointee.id))
                }
            }
        }
    }

    deinit {
        library.close_input(&context)
        av_packet_free(&packet)
        av_packet_free(&following)
        if io != nil {
            av_free(io?.pointee.buffer)
            library.free_io_context(&io)
        }
    }

    /// The video's coding standard.
    var codec: Codec { parameters(of: streamIndex)?.codec_id == AV_CODEC_ID_HEVC ? .hevc : .h264 }

    /// The parameter sets that the container stores separately: a decoder configuration record, Annex B, or
    /// nothing.
    var configuration: [UInt8] { parameters(of: streamIndex)?.configuration ?? [] }

    /// The container's description of the sound that is read; nil if there is none. If a transport stream
    /// does not state the rate, the channels and the configuration, these are 0 and empty.
    var sound: SoundDescription? {
        guard let soundIndex, let parameters = parameters(of: soundIndex),
            let codec = SoundCodec(parameters.codec_id)
        else { return nil }
        return SoundDescription(
            codec: codec,
            format: SoundFormat(
                rate: Int(parameters.sample_rate), channels: Int(parameters.ch_layout.nb_channels)),
            bitRate: parameters.bit_rate > 0 ? Int(parameters.bit_rate) : nil,
            configuration: parameters.configuration, packetFrames: max(0, Int(parameters.frame_size)))
    }

    /// The container's metadata about the recording.
    var metadata: FileMetadata {
        FileMetadata { name in
            av_dict_get(context?.pointee.metadata, name, nil, 0)?.pointee.value.map { String(cString: $0) }
        }
    }

    /// The next packet, or the damage before it.
    func next() throws(InputError) -> Reading {
        switch pending.take() {
        case .packet: return lent()
        case .end: return .end
        case nil: break
        }
        // The end of a live stream shows nothing, and its pictures must not wait.
        let looksAhead = kind == .transportStream && input.isFile
        let step = try looksAhead ? stepAhead() : step().get()
        if !step.damage.isEmpty {
            pending = step.isEnd ? .end : .packet
            return .damage(step.damage)
        }
        return step.isEnd ? .end : lent()
    }

    /// Advances by a packet, and marks the last packet as damaged if the file ends within it.
    private func stepAhead() throws(InputError) -> Step {
        while true {
            if let ahead, ahead.isLast { return try ahead.get() }
            let next = step()
            let current = ahead
            ahead = next
            swap(&packet, &following)
            guard let current else { continue }
            if case .success(let next) = next, next.isEnd, !next.damage.isEmpty {
                packet?.pointee.flags |= AV_PKT_FLAG_CORRUPT
            }
            return try current.get()
        }
    }

    private var isSound: Bool { packet.map { Int($0.pointee.stream_index) } == soundIndex }

    private func step() -> Result<Step, InputError> {
        guard let context, let packet else { return .success(Step(isEnd: true, damage: "")) }
        cffmpeg_clear_log()
        do throws(InputError) {
            let isEnd = try !readPacket(packet, context)
            var damage = String(cString: cffmpeg_last_error_like(context))
            if blocks != nil, MatroskaBlocks.isAboutJoint(damage) { damage = "" }
            let skipped = isEnd ? skippedAtEnd : countPicture(packet)
            if damage.isEmpty, isEnd { damage = input.problemAtEnd(kind) ?? "" }
            if damage.isEmpty { damage = skipped ?? "" }
            if !damage.isEmpty { deliveredCount = nil }
            return .success(Step(isEnd: isEnd, damage: damage))
        } catch { return .failure(error) }
    }

    /// Counts a packet if it is a picture.
    /// - Returns: what libavformat has skipped before the picture, in words; nil if nothing is missing.
    private func countPicture(_ packet: UnsafeMutablePointer<AVPacket>) -> String? {
        guard Int(packet.pointee.stream_index) == streamIndex else { return nil }
        if let count = deliveredCount { deliveredCount = count + 1 }
        return packet.pointee.pos < 0 ? nil : skipped(before: packet.pointee.pos)
    }

    private func skipped(before place: Int64) -> String? {
        packets?.skip(to: place).map(ContainerEnd.damage) ?? blocks?.skip(to: place).problem
    }

    /// What libavformat has left out after the last picture, in words; nil if nothing is missing.
    private var skippedAtEnd: String? {
        if hasRepeats {
            return
                "another file follows that cannot be read behind this one; play and convert each one separately"
        }
        if packets != nil { return packets?.rest(upTo: input.furthest).map(ContainerEnd.damage) }
        if let rest = blocks?.rest(upTo: input.furthest) {
            return rest.joint.map(Self.isLeftOut) ?? rest.problem
        }
        guard kind == .mp4, let deliveredCount, let descriptor = input.descriptor else { return nil }
        let samples = MP4Samples(of: descriptor, upTo: input.furthest)
        if let place = samples.joint { return Self.isLeftOut(place) }
        if let damage = samples.damage { return damage }
        guard let count = samples.pictureCount, count > deliveredCount else { return nil }
        return "its tables list \(count - deliveredCount) more pictures"
    }

    private static func isLeftOut(_ place: Int64) -> String {
        "another file follows at byte \(place) and is left out; play and convert each one separately"
    }

    /// - Returns: false at the end of the file.
    private func readPacket(
        _ packet: UnsafeMutablePointer<AVPacket>, _ context: UnsafeMutablePointer<AVFormatContext>
    ) throws(InputError) -> Bool {
        while true {
            av_packet_unref(packet)
            let result = library.read_frame(context, packet)
            guard result != CFFMPEG_END_OF_FILE || input.failure != nil else { return false }
            try check(result)
            let index = Int(packet.pointee.stream_index)
            guard index == streamIndex || index == soundIndex, packet.pointee.size > 0 else { continue }
            if index == streamIndex, isRepeated(packet.pointee) {
                hasRepeats = true
                continue
            }
            if index == streamIndex { input.allowSearch() }
            return true
        }
    }

    /// The time of the first picture that is shown; nil if the file does not say.
    var startTime: Duration? {
        guard let stream = context?.pointee.streams[streamIndex] else { return nil }
        return time(ofTicks: stream.pointee.start_time, in: stream.pointee.time_base)
    }

    private func time(ofTicks ticks: Int64, in base: AVRational) -> Duration? {
        guard ticks != CFFMPEG_NO_TIME else { return nil }
        let time = Duration.nanoseconds(av_rescale_q(ticks, base, Self.nanoseconds))
        return time.magnitude <= Self.farthestTime ? time : nil
    }

    /// Seeks to a position from which a picture at or before a time can be found, as far as the container
    /// allows.
    /// - Parameter time: as the file has it.
    /// - Returns: false if the container knows no such position; then any picture may come next.
    func seek(to time: Duration) -> Bool {
        guard let context, let stream = context.pointee.streams[streamIndex] else { return false }
        input.allowSearch()
        (pending, ahead, deliveredCount, latest, hasRepeats) = (nil, nil, nil, nil, false)
        blocks?.restart()
        packets?.restart()
        let ticks = av_rescale_q(time.inNanoseconds, Self.nanoseconds, stream.pointee.time_base)
        return library.seek_frame(context, Int32(streamIndex), ticks, AVSEEK_FLAG_BACKWARD) >= 0
    }

    private static let nanoseconds = AVRational(num: 1, den: 1_000_000_000)

    private func parameters(of index: Int) -> AVCodecParameters? {
        context?.pointee.streams[index]?.pointee.codecpar?.pointee
    }

    private func lent() -> Reading {
        guard let packet, let stream = context?.pointee.streams[isSound ? soundIndex ?? 0 : streamIndex]
        else { return .end }
        let (own, base) = (packet.pointee, stream.pointee.time_base)
        return .packet(
            Packet(
                bytes: UnsafeRawBufferPointer(start: own.data, count: Int(own.size)), isSound: isSound,
                time: time(ofTicks: own.pts == CFFMPEG_NO_TIME ? own.dts : own.pts, in: base),
                isDamaged: own.flags & AV_PKT_FLAG_CORRUPT != 0,
                isHidden: isHidden(own), configuration: newConfiguration(packet)))
    }

    /// Whether libavformat delivers data once more: fragments whose offsets count from the start of their file, behind
    /// another file.
    private func isRepeated(_ packet: AVPacket) -> Bool {
        guard kind == .mp4, packet.pos >= 0, let latest else {
            return false
        }
        return packet.dts <= latest.time && packet.pos <= latest.place
    }

    /// Whether an edit list hides a picture. libavformat also marks the pictures of a fragment whose times do not
    /// follow those before it, as in another file that follows.
    private func isHidden(_ packet: AVPacket) -> Bool {
        guard Int(packet.stream_index) == streamIndex else { return false }
        defer { latest = (packet.dts, packet.pos) }
        guard packet.flags & AV_PKT_FLAG_DISCARD != 0 else {
            startsAgain = false
            return false
        }
        if let latest, packet.dts <= latest.time, latest.place < packet.pos, let descriptor = input.descriptor
        {
            startsAgain = MP4Samples.hasIndex(descriptor, in: latest.place..<packet.pos)
        }
        return !startsAgain
    }

    private func newConfiguration(_ packet: UnsafeMutablePointer<AVPacket>) -> [UInt8]? {
        var count = 0
        guard let bytes = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &count) else {
            return nil
        }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Finds the single video and, if wanted, the sound, and discards the other streams.
    private func selectStreams() throws(InputError) {
        guard let context else { throw malformed("out of memory") }
        let all = (0..<Int(context.pointee.nb_streams)).compactMap { index in
            context.pointee.streams[index].map { (index: index, stream: $0) }
        }
        let videos = all.filter { _, stream in
            stream.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        guard let video = videos.first, let parameters = video.stream.pointee.codecpar?.pointee else {
            throw malformed("there is no video in it; give a file with H.264 or H.265")
        }
        guard videos.count == 1 else {
            throw malformed(
                "it has \(videos.count) videos; extract one: ffmpeg -i FILE -map 0:v:0 -c copy one.mkv"
            )
        }
        guard [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC].contains(parameters.codec_id) else {
            let codec = String(cString: avcodec_get_name(parameters.codec_id))
            throw malformed("its video is \(codec), not H.264 or H.265; play it with ffplay")
        }
        guard video.stream.pointee.time_base.isRate else { throw malformed("its clock has no rate") }
        let sound = takesSound ? all.first { Self.isReadable($0.stream.pointee) } : nil
        (streamIndex, soundIndex) = (video.index, sound?.index)
        for (index, stream) in all where index != video.index && index != soundIndex {
            stream.pointee.discard = AVDISCARD_ALL
            let isOther =
                soundIndex != nil && stream.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_AUDIO
            let kind = isOther ? "other sound" : Self.kind(stream.pointee)
            if !leftOut.contains(kind) { leftOut.append(kind) }
        }
        let rotation = cformat_rotation(video.stream)
        if rotation != 0 {
            leftOut.append("a rotation by \(abs(rotation)) degrees to the \(rotation > 0 ? "left" : "right")")
        }
    }

    /// Whether it is sound of a kind that camrec writes.
    private static func isReadable(_ stream: AVStream) -> Bool {
        guard let parameters = stream.codecpar?.pointee else { return false }
        let format = SoundFormat(
            rate: Int(parameters.sample_rate), channels: Int(parameters.ch_layout.nb_channels))
        return parameters.codec_type == AVMEDIA_TYPE_AUDIO && SoundCodec(parameters.codec_id) != nil
            && stream.time_base.isRate && SoundFraming.canBe(format)
    }

    private static func kind(_ stream: AVStream) -> String {
        switch stream.codecpar?.pointee.codec_type {
        case AVMEDIA_TYPE_AUDIO: ContainerReader.sound
        case AVMEDIA_TYPE_SUBTITLE: "subtitles"
        case AVMEDIA_TYPE_VIDEO: "a cover image"
        case AVMEDIA_TYPE_ATTACHMENT: "an attachment"
        default: "data"
        }
    }

    /// Throws for a failed call. Our own error takes precedence: it is more
    /// precise than the error of libavformat.
    private func check(_ result: Int32) throws(InputError) {
        switch input.failure {
        case .interrupted: throw InputError(.interrupted, input: name)
        case .read(let code): throw InputError(.readFailed(errno: code), input: name)
        case .shrunk: throw InputError(.shrunk, input: name)
        case .noPicture:
            throw malformed("no picture in its first \(ContainerInput.longestSearch >> 20) MB")
        case nil: break
        }
        guard result < 0 else { return }
        // Some demuxers report only this for a file that was barely begun.
        guard result != CFFMPEG_END_OF_FILE else {
            throw malformed("it ends before its first picture: its recording was interrupted; delete it")
        }
        let detail = String(cString: cffmpeg_last_error())
        throw malformed(
            "reading failed: \(detail.isEmpty ? "error \(result)" : detail); "
                + "copy what can be read: ffmpeg -i FILE -c copy copy.mkv")
    }

    private func malformed(_ problem: String) -> InputError { InputError(.malformed(problem), input: name) }
}

extension AVRational {
    fileprivate var isRate: Bool { num > 0 && den > 0 }
}

extension AVCodecParameters {
    fileprivate var configuration: [UInt8] {
        guard let extradata, extradata_size > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: extradata, count: Int(extradata_size)))
    }
}

extension Result<Demuxer.Step, InputError> {
    /// Whether nothing comes after it.
    fileprivate var isLast: Bool {
        if case .success(let step) = self { step.isEnd } else { true }
    }
}

extension StreamContainer {
    /// libavformat's name for it.
    fileprivate var demuxerName: String {
        switch self {
        case .matroska: "matroska"
        case .mp4: "mov"
        case .transportStream: "mpegts"
        }
    }
}
