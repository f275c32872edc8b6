import Capture
import Encoder
import Recorder

/// What a recording came to, for people and for programs.
struct RecordingResult: Encodable {
    /// The report's first level; the names are the JSON's.
    private let device: Device
    private let format: Format
    private let encoder: Encoder
    private let output: String
    private let frames: Frames
    private let bytes: Int
    private let seconds: Double
    private let latency: Latency?
    private let error: String?

    private struct Device: Encodable {
        let path: String
        let name: String
        let driver: String?
        let bus: String?
    }

    private struct Format: Encodable {
        let pixelFormat: String
        let width: Int
        let height: Int
        let framesPerSecond: Double
        let interlaced: Bool
        let colorRange: String
        let colorMatrix: String
    }

    /// The encoder in use at the end.
    private struct Encoder: Encodable {
        let name: String
        let implementation: String?
        let renderNode: String?
        let driver: String?
        let entryPoint: String?
        let profile: String?
        let rateControlMode: String?
        let bitRate: Int?
        let passedOver: [String]
        let notes: [String]
        let restarts: Int

        init(_ choice: EncoderSupply.Choice?, restarts: Int) {
            let details = choice?.details
            name = choice?.name ?? ""
            implementation = details?.implementation
            renderNode = details?.renderNode
            driver = details?.driver
            entryPoint = details?.entryPoint?.rawValue
            profile = details?.profile.rawValue
            rateControlMode = details?.rateControl.mode.rawValue
            bitRate = details?.rateControl.bitRate
            passedOver = choice?.passedOver ?? []
            notes = choice?.notes.map(\.description) ?? []
            self.restarts = restarts
        }
    }

    /// captured + droppedByDriver is what the camera numbered; captured is corrupt + droppedByUs +
    /// droppedByEncoder + encoded + unused.
    private struct Frames: Encodable {
        let captured: Int
        let droppedByDriver: Int
        let corrupt: Int
        let droppedByUs: Int
        let droppedByEncoder: Int
        let unused: Int
        let encoded: Int
        let keyframes: Int
        let written: Int
    }

    /// Capture to write.
    private struct Latency: Encodable {
        let medianMilliseconds: Double
        let percentile99Milliseconds: Double
        let maximumMilliseconds: Double
    }

    init(
        stream: any CaptureStream, choice: EncoderSupply.Choice?, counters: RecordingCounters,
        outcome: RecordingOutcome, output: String, elapsed: Int64
    ) {
        let (identity, granted) = (stream.identity, stream.format)
        device = Device(
            path: identity.device, name: identity.name, driver: identity.driver, bus: identity.bus)
        format = Format(
            pixelFormat: "\(granted.pixelFormat)", width: granted.size.width, height: granted.size.height,
            framesPerSecond: granted.frameRate.framesPerSecond, interlaced: granted.isInterlaced,
            colorRange: granted.color.range.rawValue, colorMatrix: "\(granted.color.matrix)")
        encoder = Encoder(choice, restarts: counters[.encoderRestarts])
        self.output = output
        frames = Frames(
            captured: counters[.captured], droppedByDriver: counters[.droppedByDriver],
            corrupt: counters[.corrupt], droppedByUs: counters[.droppedByUs],
            droppedByEncoder: counters[.droppedByEncoder], unused: counters[.unused],
            encoded: counters[.encoded], keyframes: counters[.keyframes], written: counters[.written])
        bytes = counters[.bytes]
        seconds = Double(elapsed) / 1e9
        latency = outcome.latency.map {
            Latency(
                medianMilliseconds: Double($0.median) / 1e6,
                percentile99Milliseconds: Double($0.percentile99) / 1e6,
                maximumMilliseconds: Double($0.maximum) / 1e6)
        }
        error = outcome.error?.description
    }

    /// The last line of a run.
    var summary: String {
        let rate = seconds > 0 ? Double(bytes) * 8 / seconds / 1e6 : 0
        let delay = latency.map { "; latency \(decimal($0.medianMilliseconds)) ms" } ?? ""
        return
            "\(kept) in \(decimal(seconds)) s (\(decimal(rate)) Mbit/s); dropped: \(frames.droppedByDriver) by "
            + "the driver, \(frames.droppedByUs) late, \(frames.droppedByEncoder) by the encoder; "
            + "\(frames.corrupt) corrupt\(delay)"
    }

    /// Not one frame was written.
    var isEmpty: Bool { frames.written == 0 }

    /// What is in the output now.
    var kept: String {
        if frames.written == 0 { return "nothing was recorded" }
        return
            "\(output): \(count(frames.written, "frame")), \(count(frames.keyframes, "keyframe")), \(bytes) bytes"
    }

    /// Losses that somebody should hear of.
    var warnings: [String] {
        var warnings: [String] = []
        if frames.droppedByDriver > 0 {
            warnings.append("the camera's driver dropped \(count(frames.droppedByDriver, "frame"))")
        }
        if frames.droppedByUs > 0 {
            warnings.append(
                "\(count(frames.droppedByUs, "frame")) dropped because the machine was too busy to encode in time; "
                    + "if that goes on, use a smaller --size or a lower --fps"
            )
        }
        if frames.droppedByEncoder > 0 {
            warnings.append("the encoder lost \(count(frames.droppedByEncoder, "frame"))")
        }
        if frames.corrupt > 0 { warnings.append("\(count(frames.corrupt, "damaged frame")) left out") }
        if encoder.restarts > 0 {
            warnings.append(
                "the encoder failed and was opened anew (\(count(encoder.restarts, "time"))); now it is \(encoder.name)"
            )
        }
        return warnings
    }

    /// `1 frame`, `2 frames`.
    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
