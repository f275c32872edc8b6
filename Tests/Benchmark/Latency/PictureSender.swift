import Capture
import Glibc

/// Writes the live test source's pictures as YUV4MPEG2, so that any recorder can be given what camrec sees.
struct PictureSender {
    private let source: TestSource

    init(size: PictureSize, rate: FrameRate) throws {
        source = try TestSource(
            CaptureRequest(size: size, frameRate: rate, pixelFormat: .yuv420), isPaced: true)
    }

    /// Ends early where nobody reads any more.
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
            let bytes = picture.payload
            guard fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count, fflush(file) == 0 else {
                return
            }
        }
    }
}
