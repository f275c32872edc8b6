import ArgumentParser
import Encoder
import Terminal

/// How many bits.
struct RateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Average bit rate: 4M, 800k. Default: 0.1 bit per pixel, 0.06 for H.265.", valueName: "RATE"),
        transform: BitsPerSecond.read)
    var bitrate: BitsPerSecond?

    @Option(
        help: ArgumentHelp(
            "Highest bit rate in any --rate-window. Default: 4 times the average.", valueName: "RATE"),
        transform: BitsPerSecond.read)
    var maxBitrate: BitsPerSecond?

    @Option(
        help: ArgumentHelp(
            "Time window in which --max-bitrate and CBR hold. Default: 1s.", valueName: "TIME"),
        transform: TimeSpan.reader(0.001...60, "1ms to 60s"))
    var rateWindow: TimeSpan?

    @Option(
        help: ArgumentHelp("Constant quantiser, 1 (best) to 51.", valueName: "N"),
        transform: PlainValue.number(1...51))
    var qp: Int?

    @Option(
        help: ArgumentHelp("Constant quality, 1 (best) to 51.", valueName: "N"),
        transform: PlainValue.number(1...51))
    var quality: Int?

    @Option(help: "Rate-control mode.")
    var rateControl: Automatic<RateControl.Mode> = .auto

    func validate() throws {
        if qp != nil, quality != nil || bitrate != nil || maxBitrate != nil {
            throw ValidationError("--qp excludes --quality, --bitrate and --max-bitrate; leave them out")
        }
        try validateMode()
        if let bitrate, let maxBitrate, maxBitrate.value < bitrate.value {
            throw ValidationError("--max-bitrate is below --bitrate; raise it")
        }
    }

    /// What a mode that is asked for by name has no use for.
    private func validateMode() throws {
        let hasRate = bitrate != nil || maxBitrate != nil || rateWindow != nil
        guard let mode = rateControl.value else {
            if qp != nil, rateWindow != nil {
                throw ValidationError("--qp excludes --rate-window; leave it out")
            }
            return
        }
        let useless: String? =
            switch mode {
            case .cbr where maxBitrate != nil && maxBitrate?.value != bitrate?.value: "--max-bitrate"
            case .cbr where qp != nil || quality != nil, .vbr where qp != nil || quality != nil:
                "--qp and --quality"
            case .cqp where hasRate || quality != nil: "--bitrate, --max-bitrate, --rate-window and --quality"
            case .icq where hasRate || qp != nil: "--bitrate, --max-bitrate, --rate-window and --qp"
            case .qvbr where qp != nil: "--qp"
            default: nil
            }
        if let useless {
            throw ValidationError("--rate-control \(mode.rawValue) has no use for \(useless); leave that out")
        }
    }

    var request: RateControlRequest {
        var request = RateControlRequest()
        request.mode = rateControl.value
        request.bitRate = bitrate?.value
        request.maximumBitRate = maxBitrate?.value
        request.window = rateWindow?.seconds ?? 1
        request.quantizer = qp
        request.quality = quality
        return request
    }
}
