import Bitstream
import CFFmpeg
import CTestAllocations
import CamConversion
import CamPictures
import Testing

@testable import Capture
@testable import Encoder

/// The input of libx264.
@Suite struct SoftwareInputTests {
    /// The addresses and strides of the planes passed to libavcodec.
    private func planes(_ frame: UnsafeMutablePointer<AVFrame>) -> [(start: UnsafeRawPointer?, stride: Int)] {
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        return [
            (UnsafeRawPointer(data.0), Int(strides.0)), (UnsafeRawPointer(data.1), Int(strides.1)),
            (UnsafeRawPointer(data.2), Int(strides.2)),
        ]
    }

    private func format(
        _ pixelFormat: PixelFormat, _ width: Int = 64, _ height: Int = 48, strides: [Int]? = nil
    ) throws -> PictureFormat {
        try #require(
            PictureFormat(
                pixelFormat, size: PictureSize(width, height)!, frameRate: FrameRate(25)!,
                color: ColorEncoding(range: .limited, matrix: .bt601), strides: strides))
    }

    private func input(_ format: PictureFormat, color: ColorEncoding? = nil) throws -> SoftwareInput {
        let size = PictureSize((format.size.width + 1) & ~1, (format.size.height + 1) & ~1)!
        return try EncoderInputs(codecs: [.h264]).memory(
            for: format, size: size, color: color ?? format.color)
    }

    private func content(_ format: PictureFormat) -> [[UInt8]] {
        format.minimumLengths.enumerated().map { noise($0.element, seed: UInt64($0.offset)) }
    }

    @Test(
        "frees everything when a converter cannot be made",
        .enabled(if: allocations_are_balanced(), "a sanitizer replaces free"))
    func failures() throws {
        let h264 = try format(.h264)
        var tooLarge = PictureTreatment()
        tooLarge.framing.crop = CropRectangle("640x480+0+0")
        let yuyv = try format(.yuyv)
        for (format, treatment) in [(h264, PictureTreatment()), (yuyv, tooLarge)] {
            func makeInput() throws(EncoderError) {
                _ = try SoftwareInput(
                    source: format, treatment: treatment, size: format.size, color: format.color,
                    arrangements: [.i420])
            }
            // What is made once is kept.
            #expect(throws: EncoderError.self) { try makeInput() }
            allocations_begin()
            for _ in 0..<10 { try? makeInput() }
            let left = allocations_left()
            _ = allocations_end()
            #expect(left == 0)
        }
    }

    @Test(
        "passes the camera's own planes if libx264 can read them, in its order",
        arguments: [
            (.nv12, [0, 1], AV_PIX_FMT_NV12), (.nv21, [0, 1], AV_PIX_FMT_NV21),
            (.yuv420, [0, 1, 2], AV_PIX_FMT_YUV420P), (.yvu420, [0, 2, 1], AV_PIX_FMT_YUV420P),
            (.nv12MultiPlanar, [0, 1], AV_PIX_FMT_NV12), (.yvu420MultiPlanar, [0, 2, 1], AV_PIX_FMT_YUV420P),
        ] as [(PixelFormat, [Int], AVPixelFormat)])
    func noCopy(pixelFormat: PixelFormat, order: [Int], libavcodecFormat: AVPixelFormat) throws {
        for padding in [0, 32] {
            let strides = [64, 64, 64].map { $0 + padding }
            let format = try format(pixelFormat, strides: strides)
            let input = try input(format)
            let buffer = try picture(format, content(format))
            let frame = try input.frame(for: buffer, in: 0)
            #expect(frame.pointee.format == libavcodecFormat.rawValue)
            let given = planes(frame)
            for (index, plane) in order.enumerated() {
                #expect(given[index].start == buffer.plane(plane).baseAddress)
                #expect(given[index].stride == format.planes[plane].stride)
            }
            input.release()
        }
    }

    @Test("converts other formats, colours and odd sizes once, into the encoder's memory")
    func conversion() throws {
        let other = ColorEncoding(range: .full, matrix: .bt601)
        let cases: [(PictureFormat, ColorEncoding?)] = try [
            (format(.yuyv), nil), (format(.rgb24), nil), (format(.grey), nil), (format(.yuv422Planar), nil),
            (format(.nv12), other), (format(.nv12, 63, 47), nil),
        ]
        for (format, color) in cases {
            let input = try input(format, color: color)
            let buffer = try picture(format, content(format))
            let frame = try input.frame(for: buffer, in: 0)
            #expect(frame.pointee.format == AV_PIX_FMT_NV12.rawValue)
            #expect(planes(frame)[0].start != buffer.plane(0).baseAddress)
            input.release()
        }
    }

    @Test(
        "the stream holds the picture given to libx264",
        arguments: [.nv12, .nv21, .yuv420, .yvu420, .nv12MultiPlanar, .yuv420MultiPlanar] as [PixelFormat])
    func pictures(pixelFormat: PixelFormat) throws {
        // A different grey in each plane, so that swapped planes would be noticed.
        for padding in [0, 32] {
            let format = try format(pixelFormat, strides: [64, 64, 64].map { $0 + padding })
            var values: [UInt8] = [90, 60, 200]
            var memory = format.minimumLengths.map { Array(repeating: UInt8(0), count: $0) }
            for (number, plane) in format.planes.enumerated() {
                for row in 0..<plane.rows {
                    for column in 0..<plane.rowBytes {
                        let value =
                            format.planes.count == 3
                            ? values[number] : number == 0 ? values[0] : values[1 + column % 2]
                        memory[plane.memoryPlane][plane.offset + row * plane.stride + column] = value
                    }
                }
            }
            if [.nv21, .yvu420].contains(pixelFormat) { values.swapAt(1, 2) }
            var configuration = CompressionProperties()
            configuration.rateControl.quantizer = 10
            let encoder = try SoftwareBackend.open(
                configuration, source: format, inputs: EncoderInputs(codecs: [configuration.codec]),
                regulator: RateRegulator())
            try encoder.encode(picture(format, memory), as: .idr, frameNumber: 0)
            let unit = try #require(try encoder.nextAccessUnit())
            let decoded = try #require(try TestDecoder.decode([unit]).first)
            #expect(decoded.planes.count == values.count)
            for (plane, value) in zip(decoded.planes, values) {
                #expect(plane.allSatisfy { abs(Int($0) - Int(value)) <= 1 })
            }
        }
    }

    @Test("a detailed picture survives, apart from rounding")
    func detail() throws {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(318, 238), pixelFormat: .yuv420), isPaced: false)
        var configuration = CompressionProperties()
        configuration.rateControl.quantizer = 1
        let encoder = try SoftwareBackend.open(
            configuration, source: source.format, inputs: EncoderInputs(codecs: [configuration.codec]),
            regulator: RateRegulator())
        guard case .buffer(let buffer) = try source.nextBuffer() else {
            Issue.record("no picture")
            return
        }
        try encoder.encode(buffer, as: .idr, frameNumber: 0)
        let unit = try #require(try encoder.nextAccessUnit())
        let decoded = try #require(try TestDecoder.decode([unit]).first)
        for number in 0..<3 {
            let expected = Array(buffer.plane(number))
            #expect(decoded.planes[number].count == expected.count)
            let largest = zip(decoded.planes[number], expected).map { abs(Int($0) - Int($1)) }.max() ?? 255
            #expect(largest <= 2)
        }
    }

    @Test("frees the buffer as soon as the picture was taken")
    func free() throws {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(64, 48), pixelFormat: .yuv420), isPaced: false)
        var configuration = CompressionProperties()
        configuration.latency = .quality
        let encoder = try SoftwareBackend.open(
            configuration, source: source.format, inputs: EncoderInputs(codecs: [configuration.codec]),
            regulator: RateRegulator())
        var count = 0
        // The source has fewer buffers than the encoder holds frames back: it would wait forever.
        for number in 0..<60 {
            guard case .buffer(let buffer) = try source.nextBuffer() else { break }
            try encoder.encode(buffer, as: number == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            while try encoder.nextAccessUnit() != nil { count += 1 }
        }
        try encoder.drain()
        while try encoder.nextAccessUnit() != nil { count += 1 }
        #expect(count == 60)
    }

    @Test(
        "encoding allocates only what libavcodec does",
        .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"),
        arguments: [.nv12, .yuyv] as [PixelFormat])
    func allocations(pixelFormat: PixelFormat) throws {
        let film = try Film(pixelFormat)
        let warmUp = 40
        let count = 60
        /// The allocations for each frame; prepared in advance.
        func measure(_ encode: (borrowing PixelBuffer, Int) throws -> Void) throws -> [Int] {
            try (0..<warmUp + count).map { number in
                let buffer = try film.frame(number)
                allocations_begin()
                try encode(buffer, number)
                return Int(allocations_end())
            }
        }
        let encoder = try film.software()
        let ours = try measure { buffer, number in
            try encoder.encode(buffer, as: number % 10 == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            while try encoder.nextAccessUnit() != nil {}
        }
        var configuration = CompressionProperties()
        configuration.keyframeInterval = .frames(10)
        let bare = try BareEncoder(configuration, format: film.format)
        let libavcodecs = try measure { buffer, number in
            try bare.encode(buffer, isIDR: number % 10 == 0, number: number)
        }
        #expect(ours.suffix(count) == libavcodecs.suffix(count))
    }
}

/// libavcodec alone, with the same settings and pictures.
private final class BareEncoder {
    private let session: SessionBox
    private let input: SoftwareInput
    private let packet = av_packet_alloc()!

    private final class SessionBox {
        let session: LibavEncoder
        init(_ session: consuming LibavEncoder) { self.session = session }
    }

    init(_ configuration: CompressionProperties, format: PictureFormat) throws {
        let properties = try SessionProperties(
            configuration, source: format,
            limits: SessionProperties.Limits(
                encoder: "libx264", profiles: CompressionProperties.Profile.allCases,
                rateControlModes: Set(RateControl.Mode.allCases), maximumSize: nil, minimumSize: nil,
                maximumSlices: 32, hasBPictures: true, rateTraits: .x264))
        let input = try EncoderInputs(codecs: [.h264]).memory(
            for: format, size: properties.size, color: properties.color)
        self.input = input
        session = SessionBox(
            try LibavEncoder(
                name: "libx264",
                options: [
                    ("preset", "veryfast"), ("tune", "zerolatency"), ("forced-idr", "1"),
                    ("x264-params", "scenecut=0:open-gop=0:sliced-threads=0"),
                ]
            ) { context in
                context.configure(
                    properties, SessionRates(properties, RateRegulator(), followsTime: true))
                context.pointee.pix_fmt = input.pixelFormat
                context.pointee.thread_count = 1
            })
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    func encode(_ buffer: borrowing PixelBuffer, isIDR: Bool, number: Int) throws {
        let frame = try input.frame(for: buffer, in: 0)
        defer { input.release() }
        frame.pointee.pts = Int64(number)
        frame.pointee.pict_type = isIDR ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        avcodec_send_frame(session.session.context, frame)
        while avcodec_receive_packet(session.session.context, packet) == 0 {}
    }
}
