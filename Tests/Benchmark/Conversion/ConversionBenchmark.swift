import Capture
import CTestJPEG
import Encoder
import Glibc
import Peers
import CamPictures
import CamPlatform
import CamConversion

/// Measures the conversion into an encoder's surface compared with the libraries it uses and with ffmpeg's,
/// taking turns in one run, and prints tables in Markdown: medians in milliseconds of CPU, and multiples of
/// camrec's.
@main
struct ConversionBenchmark {
    static let size = PictureSize(1920, 1080)!
    /// More than a last-level cache holds, as for the buffers of a camera and an encoder.
    static let bufferCount = 16
    static let rounds = 100

    static func main() throws {
        try compareYUYV()
        try compareTreatments()
        try compareSizes()
        try compareJPEG()
        try listOthers()
    }

    private static func compareYUYV() throws {
        let stream = try BufferSet(.yuyv, color: .video) { _ in noise(size.area * 2, seed: 1) }
        let converter = try PixelConverter(source: stream.format, layout: .nv12, color: .video)
        let watched = try PixelConverter(
            source: stream.format, layout: .nv12, color: .video, makesThumbnails: true)
        let surfaces = SurfaceSet()
        try printTable(
            "YUYV 1920x1080 to NV12",
            [
                ("camrec", { try stream.convert($0, by: converter, into: surfaces) }),
                (
                    "camrec, with a thumbnail for --on-motion",
                    { try stream.convert($0, by: watched, into: surfaces) }
                ),
                (
                    "libyuv's YUY2ToNV12",
                    { peer_libyuv_yuyv(stream.bytes($0).baseAddress, 1920, 1080, surfaces.bytes($0)) == 0 }
                ),
            ])
    }

    /// What a text costs, whose milliseconds change with each picture, and what another framing does.
    private static func compareTreatments() throws {
        let stream = try BufferSet(.yuyv, color: .video) { _ in noise(size.area * 2, seed: 1) }
        func contender(
            _ name: String, _ size: PictureSize = Self.size,
            _ treat: (inout PictureTreatment) throws -> Void
        ) throws -> Contender {
            var treatment = PictureTreatment()
            try treat(&treatment)
            let converter = try treatment.converters(of: stream.format, layout: .nv12, color: .video).next()
            let surfaces = SurfaceSet(size)
            return (name, { try stream.convert($0, by: converter, into: surfaces) })
        }
        func overlay(_ text: String, height: Int? = nil) throws -> Overlay {
            var overlay = Overlay(try OverlayText(text))
            overlay.height = height
            return overlay
        }
        let upright = PictureSize(1080, 1920)!
        try printTable(
            "Text and framing, YUYV 1920x1080 to NV12",
            [
                try contender("the whole picture as it is") { _ in },
                try contender("--overlay '%F %T'") { $0.overlay = try overlay("%F %T") },
                try contender("--overlay '%F %T.%f'") { $0.overlay = try overlay("%F %T.%f") },
                try contender("the same, and --overlay-size 80") {
                    $0.overlay = try overlay("%F %T.%f", height: 80)
                },
                try contender("--privacy 480x270+0+0") {
                    $0.privacy = CropRectangle("480x270+0+0").map { PrivacyMask(rectangles: [$0]) }
                },
                try contender("--privacy 1920x1080+0+0") {
                    $0.privacy = CropRectangle("1920x1080+0+0").map { PrivacyMask(rectangles: [$0]) }
                },
                try contender("the same, and --privacy-fill mosaic") {
                    $0.privacy = CropRectangle("1920x1080+0+0").map {
                        PrivacyMask(rectangles: [$0], fill: .mosaic)
                    }
                },
                try contender("--crop 960x540+480+270", PictureSize(960, 540)!) {
                    $0.framing.crop = CropRectangle("960x540+480+270")
                },
                try contender("--flip v") { $0.framing.flip = .vertical },
                try contender("--flip h") { $0.framing.flip = .horizontal },
                try contender("--rotate 180") { $0.framing.rotation = .upsideDown },
                try contender("--rotate 90", upright) { $0.framing.rotation = .right },
                try contender("--rotate 270 --overlay '%F %T.%f'", upright) {
                    $0.framing.rotation = .left
                    $0.overlay = try overlay("%F %T.%f")
                },
                try contender("--scale 1280x720", PictureSize(1280, 720)!) {
                    $0.framing.scale = PictureSize(1280, 720)
                },
            ])
    }

    /// What renditions of several sizes cost: a conversion into memory for all of them, and each size from there.
    private static func compareSizes() throws {
        let camera = try BufferSet(.yuyv, color: .video) { _ in noise(size.area * 2, seed: 1) }
        let converted = try BufferSet(.yuv420, color: .video) { _ in noise(size.area * 2, seed: 1) }
        func contender(_ name: String, _ stream: BufferSet, _ scale: PictureSize? = nil) throws -> Contender {
            var framing = Framing()
            framing.scale = scale
            let converter = try PixelConverter(
                source: stream.format, layout: .nv12, color: .video, framing: framing)
            let surfaces = SurfaceSet(scale ?? size)
            return (name, { try stream.convert($0, by: converter, into: surfaces) })
        }
        let shared = try PixelConverter(source: camera.format, layout: .i420, color: .video)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size.area * 2)
        let chroma = PictureSurface.Chroma.separate(
            cb: .init(memory + size.area, stride: size.width / 2),
            cr: .init(memory + size.area * 5 / 4, stride: size.width / 2))
        let planar = PictureSurface(
            size: size, luma: .init(memory, stride: size.width), chroma: chroma)
        try printTable(
            "Several sizes, 1920x1080",
            [
                try contender("YUYV to the encoder's NV12, a single size", camera),
                (
                    "YUYV to planar memory, for all sizes",
                    { try camera.convert($0, by: shared, into: planar) }
                ),
                try contender("from there to NV12: the whole picture", converted),
                try contender("from there to NV12: a half, 960x540", converted, PictureSize(960, 540)),
                try contender("from there to NV12: a third, 640x360", converted, PictureSize(640, 360)),
                try contender("from there to NV12: a quarter, 480x270", converted, PictureSize(480, 270)),
                try contender("from there to NV12: two thirds, 1280x720", converted, PictureSize(1280, 720)),
            ])
    }

    private static func compareJPEG() throws {
        let stream = try BufferSet(.mjpeg, color: .jpeg) { testJPEG(seed: UInt64($0 + 1)) }
        let converter = try PixelConverter(source: stream.format, layout: .nv12, color: .jpeg)
        let toVideo = try PixelConverter(source: stream.format, layout: .nv12, color: .video)
        let surfaces = SurfaceSet()
        let planes = UnsafeMutablePointer<UInt8>.allocate(capacity: size.area * 2)
        var ffmpeg: OpaquePointer?
        let length = stream.bytes(0).count
        try printTable(
            "Motion JPEG 1920x1080 4:2:2 of \(length / 1024) KiB to NV12",
            [
                ("camrec", { try stream.convert($0, by: converter, into: surfaces) }),
                (
                    "camrec, to limited range and BT.709",
                    { try stream.convert($0, by: toVideo, into: surfaces) }
                ),
                (
                    "libjpeg-turbo, decoding alone",
                    {
                        peer_libjpeg(stream.bytes($0).baseAddress, stream.bytes($0).count, 1920, 1080, planes)
                            == 0
                    }
                ),
                (
                    "libyuv's MJPGToNV12",
                    {
                        peer_libyuv_jpeg(
                            stream.bytes($0).baseAddress, stream.bytes($0).count, 1920, 1080,
                            surfaces.bytes($0)) == 0
                    }
                ),
                (
                    "libavcodec, decoding alone",
                    {
                        peer_libavcodec(
                            &ffmpeg, stream.bytes($0).baseAddress, stream.bytes($0).count, 1920, 1080, nil)
                            == 0
                    }
                ),
                (
                    "libavcodec and swscale",
                    {
                        peer_libavcodec(
                            &ffmpeg, stream.bytes($0).baseAddress, stream.bytes($0).count, 1920, 1080,
                            surfaces.bytes($0)) == 0
                    }
                ),
            ])
    }

    private static func listOthers() throws {
        var rows: [Contender] = []
        let surfaces = SurfaceSet()
        for format in [PixelFormat.yuyv, .nv12, .nv16, .nv24, .yuv420, .yuv422Planar, .yvyu, .rgb24, .bgrx32]
        {
            let stream = try BufferSet(format, color: .video) { _ in noise(size.area * 4, seed: 1) }
            for color in [ColorEncoding.video, .jpeg] {
                let converter = try PixelConverter(source: stream.format, layout: .nv12, color: color)
                rows.append(
                    (
                        "\(format) to \(color.range) range",
                        { try stream.convert($0, by: converter, into: surfaces) }
                    ))
            }
        }
        try printTable("Other formats, 1920x1080 to NV12", rows)
    }

    // MARK: - Measuring

    /// Does the work once with the numbered buffer; false if it cannot.
    typealias Contender = (name: String, work: (Int) throws -> Bool)

    private static func printTable(_ title: String, _ contenders: [Contender]) throws {
        var times = [[Double]](repeating: [], count: contenders.count)
        var isAble = [Bool](repeating: true, count: contenders.count)
        for round in 0..<rounds {
            for (index, contender) in contenders.enumerated() where isAble[index] {
                let start = now()
                isAble[index] = try contender.work(round % bufferCount)
                if round >= bufferCount { times[index].append(now() - start) }
            }
        }
        print("\n### \(title)\n\n| | median, ms | times the first |\n|---|---:|---:|")
        let medians = times.map { $0.isEmpty ? .nan : $0.sorted()[$0.count / 2] }
        for (index, contender) in contenders.enumerated() {
            guard isAble[index] else {
                print("| \(contender.name) | not available | |")
                continue
            }
            print(
                "| \(contender.name) | \(decimal(medians[index], 3)) | \(decimal(medians[index] / medians[0], 2)) |"
            )
        }
    }

    /// Milliseconds of this thread's processor time: others on the machine disturb it less than the wall clock.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    private static func decimal(_ value: Double, _ digits: Int) -> String {
        let scale = pow(10, Double(digits))
        let whole = Int((value * scale).rounded())
        let fraction = String(whole % Int(scale))
        return "\(whole / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    // MARK: - Pictures

    private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    /// Shapes, edges and sensor noise: a few hundred KiB, like a camera's pictures.
    private static func testJPEG(seed: UInt64) -> [UInt8] {
        var picture = noise(size.area * 3, seed: seed)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let shape = (x / 37 + y / 53) % 2 == 0 ? 40 : 150
                let slope = (x + y + Int(seed) * 10) / 24
                for component in 0..<3 {
                    let index = (y * size.width + x) * 3 + component
                    let grain = Int(picture[index]) / (component == 0 ? 24 : 64)
                    picture[index] = UInt8(
                        (component == 0 ? shape + slope / 2 : 96 + slope / 4) % 240 + grain)
                }
            }
        }
        let options = test_jpeg_options(
            width: Int32(size.width), height: Int32(size.height), components: 3, horizontal: 2, vertical: 1,
            restart_rows: 0, progressive: 0, rgb: 0)
        var count = 0
        let encoded = test_jpeg_encode(picture, options, &count)!
        defer { free(encoded) }
        return Array(UnsafeBufferPointer(start: encoded, count: count))
    }
}

extension ColorEncoding {
    static let video = ColorEncoding(range: .limited, matrix: .bt709)
    static let jpeg = ColorEncoding(range: .full, matrix: .bt601)
}

/// As many buffers as a camera would fill in turn.
final class BufferSet {
    let format: PictureFormat
    private let pool: PixelBufferPool
    private let lengths: [Int]
    private var count = 0

    init(_ pixelFormat: PixelFormat, color: ColorEncoding, content: (Int) -> [UInt8]) throws {
        let size = ConversionBenchmark.size
        format = PictureFormat(pixelFormat, size: size, frameRate: FrameRate(30)!, color: color)!
        pool = try PixelBufferPool.allocated(count: ConversionBenchmark.bufferCount, length: size.area * 4)
        var lengths: [Int] = []
        for index in 0..<ConversionBenchmark.bufferCount {
            let bytes = content(index)
            pool.memory(ofBuffer: index, plane: 0).copyBytes(from: bytes)
            lengths.append(bytes.count)
        }
        self.lengths = lengths
    }

    func bytes(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let memory = pool.memory(ofBuffer: index, plane: 0).assumingMemoryBound(to: UInt8.self)
        return UnsafeBufferPointer(rebasing: memory[..<lengths[index]])
    }

    func convert(_ index: Int, by converter: PixelConverter, into surfaces: SurfaceSet) throws -> Bool {
        try convert(index, by: converter, into: surfaces.surface(index))
    }

    func convert(_ index: Int, by converter: PixelConverter, into surface: PictureSurface) throws -> Bool {
        var payloads: InlineArray<3, PixelBuffer.Payload> = .init(repeating: .init())
        payloads[0] = .init(length: lengths[index])
        count += 1
        let buffer = PixelBuffer(
            pool: pool, index: index, payloads: payloads, format: format, sequence: UInt32(count),
            timestamp: .start + .milliseconds(33) * count)
        try converter.convert(buffer, into: surface)
        return true
    }
}

/// As many surfaces, with room for whole macroblocks.
final class SurfaceSet {
    private let size: PictureSize
    private let padded: PictureSize
    private let memory: [UnsafeMutablePointer<UInt8>]

    init(_ size: PictureSize = ConversionBenchmark.size) {
        self.size = size
        let padded = PictureSize((size.width + 15) & ~15, (size.height + 15) & ~15)!
        self.padded = padded
        memory = (0..<ConversionBenchmark.bufferCount).map { _ in
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: padded.area * 3 / 2)
            bytes.initialize(repeating: 0, count: padded.area * 3 / 2)
            return bytes
        }
    }

    deinit { for bytes in memory { bytes.deallocate() } }

    func bytes(_ index: Int) -> UnsafeMutablePointer<UInt8> { memory[index] }

    func surface(_ index: Int) -> PictureSurface {
        PictureSurface(
            size: size, paddedSize: padded, luma: .init(memory[index], stride: padded.width),
            chroma: .interleaved(.init(memory[index] + padded.area, stride: padded.width)))
    }
}
