import Bitstream
import CFFmpeg
import Glibc
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder
@testable import CamPictures

/// A picture of a source, in its own memory.
func picture(
    _ format: PictureFormat, _ memoryPlanes: [[UInt8]], sequence: UInt32 = 0, timestamp: Instant = .start
) throws -> PixelBuffer {
    var payloads: InlineArray<3, PixelBuffer.Payload> = .init(repeating: .init())
    let memory = memoryPlanes.enumerated().map { index, bytes in
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 64)
        copy.copyBytes(from: bytes)
        payloads[index].length = bytes.count
        return copy
    }
    let pool = try PixelBufferPool(backing: .allocated, planes: memory, planesPerBuffer: memory.count)
    return PixelBuffer(
        pool: pool, index: 0, payloads: payloads, format: format, sequence: sequence, timestamp: timestamp)
}

/// Buffers of memory as devices share it.
func sharedPool(count: Int, length: Int) throws -> PixelBufferPool {
    let buffers = try (0..<count).map { _ in
        var path = Array("/tmp/camrec-test-memory-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        try #require(descriptor >= 0 && ftruncate(descriptor, length) == 0)
        unlink(path)
        return DMABuffer(adopting: descriptor, length: length)
    }
    return try PixelBufferPool.shared(buffers, length: length)
}

/// Pictures whose content changes completely every few frames, like cuts in a film.
struct Film {
    let format: PictureFormat
    let framesPerScene: Int
    /// Identical frames at the start.
    var stillFrames = 0

    init(
        _ pixelFormat: PixelFormat = .nv12, _ width: Int = 128, _ height: Int = 96, rate: String = "25",
        framesPerScene: Int = 7,
        color: ColorEncoding = ColorEncoding(range: .limited, matrix: .bt601)
    ) throws {
        let size = try #require(PictureSize(width, height))
        let frameRate = try #require(FrameRate(rate))
        format = try #require(PictureFormat(pixelFormat, size: size, frameRate: frameRate, color: color))
        self.framesPerScene = framesPerScene
    }

    init(format: PictureFormat, framesPerScene: Int) {
        (self.format, self.framesPerScene) = (format, framesPerScene)
    }

    func frame(_ number: Int) throws -> PixelBuffer {
        let planes = format.minimumLengths.enumerated().map { plane, length in
            noise(length, seed: number < stillFrames ? 1 : UInt64(number / framesPerScene * 8 + plane))
        }
        return try picture(
            format, planes, sequence: UInt32(number), timestamp: .start + .milliseconds(40) * number)
    }

    /// Everything that an encoder makes of this many frames, each taken as soon as it is available.
    func encode(
        _ count: Int, with encoder: some PictureEncoder, idrFrames: (Int) -> Bool = { $0 % 10 == 0 },
        onFrame: (_ taken: Int, _ given: Int) -> Void = { _, _ in }
    ) throws -> [AccessUnit] {
        var units: [AccessUnit] = []
        for number in 0..<count {
            try encoder.encode(
                frame(number), as: idrFrames(number) ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            while let unit = try encoder.nextAccessUnit() { units.append(unit) }
            onFrame(units.count, number + 1)
        }
        try encoder.drain()
        while let unit = try encoder.nextAccessUnit() { units.append(unit) }
        return units
    }

    func software(
        regulator: RateRegulator = RateRegulator(),
        _ configure: (inout CompressionProperties) -> Void = { _ in }
    ) throws -> VideoEncoder {
        var configuration = CompressionProperties()
        configuration.keyframeInterval = .frames(10)
        configure(&configuration)
        return try SoftwareBackend.open(
            configuration, source: format, inputs: EncoderInputs(codecs: [configuration.codec]),
            regulator: regulator)
    }
}

extension [AccessUnit] {
    var idrPositions: [Int] { indices.filter { self[$0].isIDR } }

    /// Consecutive pictures that come after one that is shown later.
    var longestRunOfBPictures: Int {
        var (latest, run, longest) = (-1, 0, 0)
        for unit in self {
            run = unit.frameNumber < latest ? run + 1 : 0
            latest = Swift.max(latest, unit.frameNumber)
            longest = Swift.max(longest, run)
        }
        return longest
    }
}

extension AccessUnit {
    var allBytes: [UInt8] { withUnsafeBytes { Array($0) } }

    var sliceCount: Int { units.count { $0.header.isSlice } }

    /// The NAL units of a type.
    func units(_ type: H264.NALUnitType) -> [[UInt8]] {
        withUnsafeBytes { bytes in
            units.filter { $0.header.nal_unit_type == Int(type.rawValue) }.map { Array(bytes[$0.bytes]) }
        }
    }

    func sequenceParameterSet() throws -> H264.SequenceParameterSet {
        let bytes = try #require(units(.sequenceParameterSet).first)
        return try H264.SequenceParameterSet(bytes.span.bytes)
    }

    func pictureParameterSet() throws -> H264.PictureParameterSet {
        let bytes = try #require(units(.pictureParameterSet).first)
        return try H264.PictureParameterSet(bytes.span.bytes)
    }
}

/// libavcodec's decoder; any complaint is a failure.
final class TestDecoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame = av_frame_alloc()!
    private let packet = av_packet_alloc()!

    /// A decoded picture: planes of 4:2:0 without padding.
    struct Picture: Equatable {
        let width: Int
        let height: Int
        let planes: [[UInt8]]
    }

    init() throws {
        context = try #require(avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264)))
        context.pointee.err_recognition = AV_EF_EXPLODE
        try #require(avcodec_open2(context, nil, nil) == 0)
    }

    deinit {
        var (context, frame, packet):
            (
                UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?,
                UnsafeMutablePointer<AVPacket>?
            ) = (self.context, self.frame, self.packet)
        avcodec_free_context(&context)
        av_frame_free(&frame)
        av_packet_free(&packet)
    }

    static func decode(_ units: [AccessUnit]) throws -> [Picture] {
        let decoder = try TestDecoder()
        var pictures: [Picture] = []
        for unit in units { pictures += try decoder.feed(unit.allBytes) }
        return pictures + (try decoder.feed([]))
    }

    /// Nil is the end.
    private func feed(_ bytes: [UInt8]) throws -> [Picture] {
        if !bytes.isEmpty {
            try #require(av_new_packet(packet, Int32(bytes.count)) == 0)
            UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: bytes.count)
                .copyBytes(from: bytes)
        }
        try #require(avcodec_send_packet(context, bytes.isEmpty ? nil : packet) == 0)
        av_packet_unref(packet)
        var pictures: [Picture] = []
        while avcodec_receive_frame(context, frame) == 0 { pictures.append(copy()) }
        return pictures
    }

    private func copy() -> Picture {
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        func plane(_ start: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ width: Int, _ height: Int)
            -> [UInt8]
        {
            (0..<height).flatMap { row in
                UnsafeBufferPointer(start: start! + row * Int(stride), count: width)
            }
        }
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        return Picture(
            width: width, height: height,
            planes: [
                plane(data.0, strides.0, width, height),
                plane(data.1, strides.1, (width + 1) / 2, (height + 1) / 2),
                plane(data.2, strides.2, (width + 1) / 2, (height + 1) / 2),
            ])
    }
}
