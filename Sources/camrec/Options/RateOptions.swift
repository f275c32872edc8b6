import ArgumentParser
import Encoder
import CamCommandLine

/// Options for the bit rate.
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
