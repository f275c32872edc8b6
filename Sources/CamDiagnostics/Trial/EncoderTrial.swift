import Bitstream
import CamAcceleration
import CamPictures
import CamPlatform
import Capture
import Encoder

/// The performance of an encoder with test pictures.
package struct EncoderTrial: Sendable, Codable {
    /// `H.264` or `H.265`.
    package let codec: String
    /// The render node; nil for software.
    package let node: String?
    /// The opened encoder with its settings.
    package let encoder: String?
    package let driver: String?
    package let result: Result?
    /// Why there is no result.
    package let problem: String?

    /// The measurements.
    package struct Result: Sendable, Codable {
        package let pictures: Int
        /// The number of pictures that could be decoded.
        package let decoded: Int
        /// Pictures a second, encoded one after another as fast as possible.
        package let framesPerSecond: Double
        /// The median time from a picture to its access unit, in milliseconds.
        package let medianLatency: Double
        package let percentile99Latency: Double
        /// Peak signal-to-noise ratio of luma over all pictures, in dB; nil if they are identical.
        package let psnr: Double?
        /// The requested bits per second; nil if the encoder has no such mode.
        package let wantedBitRate: Int?
        /// The measured bits a second.
        package let bitRate: Int
        /// The requested limit in bits a second for the fullest window; nil if the encoder has no such mode.
        package let maximumBitRate: Int?
        /// Bits a second in the fullest window.
        package let peakBitRate: Int
        /// The window's length.
        package let rateWindowSeconds: Double
        /// Whether average and fullest window are within the promise of the encoder.
        package let holdsRates: Bool
    }

    /// The rate requested of every encoder, in bits per second.
    private static let bitRate = 4_000_000

    /// The render nodes of this machine, then nil for software.
    package static var nodes: [String?] { RenderNode.all() + [nil] }

    /// Creates a trial that failed.
    /// - Parameters:
    ///   - node: nil for software.
    ///   - problem: why.
    package init(node: String?, codec: Codec, problem: String) {
        self.init(
            codec: "\(codec)", node: node, encoder: nil, driver: nil, result: nil, problem: problem)
    }

    private init(
        codec: String, node: String?, encoder: String?, driver: String?, result: Result?, problem: String?
    ) {
        (self.codec, self.node, self.encoder, self.driver) = (codec, node, encoder, driver)
        (self.result, self.problem) = (result, problem)
    }

    /// Runs a trial. A driver may hang, or end the process.
    /// - Parameters:
    ///   - node: nil for software.
    ///   - seconds: the length of the test stream, at least 1.
    ///   - progress: called for each picture that goes in or comes out.
    package static func run(
        node: String?, codec: Codec, size: PictureSize, frameRate: FrameRate, seconds: Int,
        progress: @escaping () -> Void = {}
    ) -> EncoderTrial {
        do {
            let pictures = try TrialPictures(size: size, frameRate: frameRate)
            let provider = provider(node, codec, pictures.format)
            let run = TrialRun(
                pictures: pictures, session: try CompressionSession([provider], format: pictures.format),
                codec: codec, progress: progress)
            let measured = try run.measure(count: seconds * Int(frameRate.framesPerSecond))
            let details = provider.choice?.details
            return EncoderTrial(
                codec: "\(codec)", node: node, encoder: provider.choice?.name, driver: details?.driver,
                result: Result(
                    measured, seconds: seconds, wanted: details?.rateControl.bitRate), problem: nil)
        } catch {
            return EncoderTrial(node: node, codec: codec, problem: "\(error)")
        }
    }

    private static func provider(_ node: String?, _ codec: Codec, _ format: PictureFormat)
        -> BackendEncoderProvider
    {
        var request = EncoderRequest()
        request.preference = node == nil ? .software : .vaapi
        request.renderNode = node
        var configuration = CompressionProperties()
        configuration.codec = codec
        configuration.rateControl.bitRate = bitRate
        return BackendEncoderProvider.providers(request, configurations: [configuration], source: format)[0]
    }
}

extension EncoderTrial.Result {
    fileprivate init(_ run: TrialRun.Measurement, seconds: Int, wanted: Int?) {
        let latencies = run.latencies.sorted()
        func percentile(_ part: Double) -> Double {
            latencies.isEmpty
                ? 0 : Double(latencies[Int(Double(latencies.count - 1) * part)].inNanoseconds) / 1e6
        }
        self.init(
            pictures: run.pictureCount, decoded: run.decodedCount,
            framesPerSecond: Double(run.pictureCount) / max(.nanoseconds(1), run.duration).inSeconds,
            medianLatency: percentile(0.5), percentile99Latency: percentile(0.99), psnr: run.psnr,
            wantedBitRate: wanted, bitRate: run.byteCount * 8 / seconds,
            maximumBitRate: run.promise?.maximum,
            peakBitRate: Int(Double(run.largestWindow) / (run.promise?.window ?? 1)),
            rateWindowSeconds: run.promise?.window ?? 1,
            holdsRates: run.promise.map {
                $0.holdsMaximum(bits: run.largestWindow)
                    && $0.holdsAverage(bits: run.byteCount * 8, seconds: Double(seconds))
            } ?? true)
    }
}

// MARK: Text

extension EncoderTrial {
    /// The trial as text, without a trailing newline.
    /// - Parameter rate: the frames a second that a recording would need.
    package func text(for rate: Int) -> String {
        let place = node ?? "software"
        guard let result else { return "\(codec) on \(place): \(problem ?? "no result")" }
        return "\(codec) on \(place): \(encoder ?? "")" + (driver.map { "; driver: \($0)" } ?? "")
            + "\n  \(result.verdict(for: rate)): \(result.text)"
    }
}

extension EncoderTrial.Result {
    /// Whether a recording can use the encoder, in a few words.
    func verdict(for rate: Int) -> String {
        if decoded < pictures { return "broken" }
        if framesPerSecond < Double(rate) { return "too slow for \(rate) frames/s" }
        return holdsRates ? "fit for \(rate) frames/s" : "exceeds its rates"
    }

    fileprivate var text: String {
        let quality = psnr.map { "PSNR \(Quantity.tenths($0)) dB" } ?? "identical samples"
        let deviation = wantedBitRate.map { wanted in
            " (\(Quantity.tenths(Double(bitRate - wanted) * 100 / Double(wanted))) % from \(Quantity.tenths(Double(wanted) / 1e6)))"
        }
        let most = maximumBitRate.map { " (at most \(Quantity.tenths(Double($0) / 1e6)))" } ?? ""
        let peak =
            ", \(Quantity.tenths(Double(peakBitRate) / 1e6)) in the fullest \(Quantity.tenths(rateWindowSeconds)) s\(most)"
        let broken = holdsRates ? "" : "; it exceeds its rates"
        let lost = decoded == pictures ? "" : "; only \(decoded) of \(pictures) pictures could be decoded"
        return
            "\(Quantity.tenths(framesPerSecond)) frames/s; latency \(Quantity.tenths(medianLatency)) ms, 99 % within "
            + "\(Quantity.tenths(percentile99Latency)) ms; \(quality); \(Quantity.tenths(Double(bitRate) / 1e6)) Mbit/s"
            + (deviation ?? ", at constant quality") + peak + broken + lost
    }
}
