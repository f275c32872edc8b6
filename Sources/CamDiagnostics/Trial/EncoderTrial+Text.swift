extension EncoderTrial {
    /// The trial as text, without a trailing newline.
    public var text: String {
        let place = node ?? "software"
        guard let result else { return "\(codec) on \(place): \(problem ?? "no result")" }
        return "\(codec) on \(place): \(encoder ?? "")" + (driver.map { "; driver: \($0)" } ?? "")
            + "\n  \(result.text)"
    }
}

extension EncoderTrial.Result {
    fileprivate var text: String {
        let quality = psnr.map { "PSNR \(Self.decimal($0)) dB" } ?? "identical samples"
        let deviation = wantedBitRate.map { wanted in
            " (\(Self.decimal(Double(bitRate - wanted) * 100 / Double(wanted))) % from \(Self.decimal(Double(wanted) / 1e6)))"
        }
        let most = maximumBitRate.map { " (at most \(Self.decimal(Double($0) / 1e6)))" } ?? ""
        let peak =
            ", \(Self.decimal(Double(peakBitRate) / 1e6)) in the fullest \(Self.decimal(rateWindowSeconds)) s\(most)"
        let broken = holdsRates ? "" : "; it exceeds its rates"
        let lost = decoded == pictures ? "" : "; only \(decoded) of \(pictures) pictures could be decoded"
        return
            "\(Self.decimal(framesPerSecond)) frames/s; latency \(Self.decimal(medianLatency)) ms, 99 % within "
            + "\(Self.decimal(percentile99Latency)) ms; \(quality); \(Self.decimal(Double(bitRate) / 1e6)) Mbit/s"
            + (deviation ?? ", at constant quality") + peak + broken + lost
    }

    /// With one decimal.
    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
