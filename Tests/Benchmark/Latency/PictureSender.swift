import Capture
import Glibc
import CamPictures

/// Writes the live test source's pictures as YUV4MPEG2, so that every recorder gets the same input.
///
/// The middle third is noise, different in every picture, so that a stream uses the bits that it is allowed.
struct PictureSender {
    private let source: TestSource
    private let noise: [UInt8]
    private let noiseRows: Range<Int>

    init(size: PictureSize, rate: FrameRate) throws {
        source = try TestSource(
            CaptureRequest(size: size, frameRate: rate, pixelFormat: .yuv420), isPaced: true)
        noiseRows = size.height / 3..<size.height * 2 / 3
        var generator = SystemRandomNumberGenerator()
        noise = (0..<2 * noiseRows.count * size.width).map { _ in .random(in: 16...235, using: &generator) }
    }

    /// Ends early if nobody reads any more.
    func send(_ count: Int, to path: String) throws {
        signal(SIGPIPE, SIG_IGN)
        guard let file = fopen(path, "wb") else { throw LatencyBenchmark.Failure.notTaken }
        defer { fclose(file) }
        let format = source.format
        let (size, rate) = (format.size, format.frameRate)
        fputs(
            "YUV4MPEG2 W\(size.width) H\(size.height) F\(rate.numerator):\(rate.denominator) Ip A1:1 C420mpeg2\n",
            file)
        for _ in 0..<count {
            guard case .buffer(let picture) = try source.nextBuffer() else { return }
            fputs("FRAME\n", file)
            guard write(picture.payload, to: file), fflush(file) == 0 else { return }
        }
    }

    /// The luma is first, without gaps.
    private func write(_ picture: UnsafeRawBufferPointer, to file: UnsafeMutablePointer<FILE>) -> Bool {
        let width = source.format.size.width
        let middle = noiseRows.lowerBound * width..<noiseRows.upperBound * width
        let start = Int.random(in: 0...noise.count - middle.count)
        return noise.withUnsafeBytes { noise in
            [
                picture[..<middle.lowerBound], noise[start..<start + middle.count],
                picture[middle.upperBound...],
            ]
            .allSatisfy {
                fwrite(UnsafeRawBufferPointer(rebasing: $0).baseAddress, 1, $0.count, file) == $0.count
            }
        }
    }
}
