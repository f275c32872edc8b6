import Bitstream
import CamCommandLine
import CamPlatform
import CamRecorder
import CamStorage

extension RecordingResult {
    /// The last lines of a run.
    var summary: [String] {
        let delay = latency.map { "; latency \(Quantity.tenths($0.medianMilliseconds)) ms" } ?? ""
        let passed = frames.notWanted > 0 ? "; \(frames.notWanted) not wanted" : ""
        let end =
            "\(Quantity.tenths(seconds)) s; dropped: \(frames.droppedByDriver) by the driver, \(frames.droppedByUs) late, \(droppedByEncoders) by the encoder; "
            + "\(frames.corrupt) corrupt\(frames.paused > 0 ? "; \(frames.paused) paused" : "")\(passed)\(delay)"
        let kept = outputs.count == 1 ? ["\(kept) in \(end)"] : outputs.map(\.kept) + ["all outputs: \(end)"]
        return kept + encoders.compactMap { $0.rateLine(label(of: $0)) }
            + [motion?.summary, sound?.summary].compactMap { $0 }
    }

    /// Names an encoder among several: by its codec, the size of its pictures, or their rate.
    private func label(of encoder: Encoder) -> String {
        guard encoders.count > 1 else { return "" }
        let alike = encoders.filter { $0.codec == encoder.codec }
        guard alike.count > 1, let width = encoder.width, let height = encoder.height else {
            return "\(encoder.codec): "
        }
        let isOnlySize = alike.count { $0.width == width && $0.height == height } == 1
        let rate = isOnlySize ? nil : encoder.statedFramesPerSecond
        return
            "\(encoder.codec) \(width)x\(height)\(rate.map { ", \(Quantity.tenths($0)) frames/s" } ?? ""): "
    }

    /// The outputs' contents.
    var kept: String {
        isEmpty ? "nothing was recorded" : outputs.map(\.kept).joined(separator: "; ")
    }

    /// Whether no frame was written.
    var isEmpty: Bool { outputs.allSatisfy { $0.written == 0 } }

    private var droppedByEncoders: Int { encoders.reduce(0) { $0 + $1.frames.droppedByEncoder } }

    /// Losses that the user should know about.
    var warnings: [String] {
        var warnings: [String] = []
        if frames.droppedByDriver > 0 {
            warnings.append("the camera's driver dropped \(Quantity.count(frames.droppedByDriver, "frame"))")
        }
        if frames.droppedInRestart > 0 {
            warnings.append(
                "\(Quantity.count(frames.droppedInRestart, "frame")) dropped while the encoder hung or was reopened"
            )
        }
        if frames.droppedForOutput > 0 {
            let slow = outputs.filter { $0.waits > 0 }.map(\.output).joined(separator: " or ")
            warnings.append(
                "\(Quantity.count(frames.droppedForOutput, "frame")) dropped because \(slow) read the stream too slowly; "
                    + "if that continues, use a faster disk or a lower --bitrate")
        }
        let late =
            frames.droppedByUs - frames.droppedInRestart - frames.droppedForOutput
            - frames.droppedAfterStandstill
        if late > 0 {
            warnings.append(
                "\(Quantity.count(late, "frame")) dropped because the machine was too busy to encode in time; "
                    + "if that continues, use \(processorAdvice)a smaller --size or a lower --fps"
            )
        }
        warnings += source.warnings
        if frames.corrupt > 0 {
            warnings.append("\(Quantity.count(frames.corrupt, "damaged frame")) left out")
        }
        for encoder in encoders { warnings += encoder.warnings }
        warnings += sound?.warnings ?? []
        warnings += outputs.filter { $0.isConnecting && $0.error == nil }.compactMap(lossWarning)
        return warnings + rateWarnings
    }

    /// Options with which libx264 would use idle processors.
    private var processorAdvice: String {
        let count = min(Processors.count, 4)
        guard count > 1, encoders.contains(where: \.isSingleThreaded) else { return "" }
        return
            "--slices \(count) to encode each picture on \(count) processors, --latency throughput to encode on all "
            + "of them and up to two seconds later, "
    }

    /// Warns of losses beyond the first two seconds, which are usual until a receiver connects and a keyframe
    /// comes.
    private func lossWarning(_ output: Output) -> String? {
        let rate = encoders[output.encoder].measuredFramesPerSecond ?? 0
        guard output.lost > 0, Double(output.lost) > 2 * rate else { return nil }
        return
            "\(output.output): \(output.lost) of \(Quantity.count(output.written + output.lost, "frame")) were not received"
    }

    /// Warns about raw streams, whose only timing is the constant rate in their VUI.
    private var rateWarnings: [String] {
        let raw = outputs.filter { $0.format == .annexB && $0.written > 0 }.map { encoders[$0.encoder] }
        guard let encoder = raw.first(where: \.isOffRate), let stated = encoder.statedFramesPerSecond,
            let measured = encoder.measuredFramesPerSecond
        else { return [] }
        let remedy =
            outputs.contains { $0.format == .timestamps }
            ? "'camrec remux' with the timestamps fixes that" : "use .mkv or .mp4, or keep --timestamps"
        return [
            "\(Quantity.tenths(measured)) frames arrived per second, but the stream declares \(Quantity.tenths(stated)): raw, "
                + "\(measured < stated ? "it plays too fast" : "it plays too slowly"); \(remedy)"
        ]
    }
}

extension RecordingResult.Source {
    /// Warnings about times without pictures.
    var warnings: [String] {
        var warnings: [String] = []
        let pauses = [
            secondsSuspended > 0
                ? "the machine was suspended for \(Quantity.tenths(secondsSuspended)) s" : nil,
            secondsStopped > 0 ? "camrec was stopped for \(Quantity.tenths(secondsStopped)) s" : nil,
        ].compactMap { $0 }
        if !pauses.isEmpty {
            let times = standstills > 1 ? " (\(standstills) times)" : ""
            warnings.append(pauses.joined(separator: " and ") + times)
        }
        let isAway = secondsAwayAtEnd > 0
        let returns = outages - standstills - (isAway ? 1 : 0)
        if returns > 0 {
            warnings.append(
                "the camera failed and came back (\(Quantity.count(returns, "time"))): "
                    + "\(Quantity.tenths(secondsLost - secondsAwayAtEnd)) s without a picture")
        }
        if isAway {
            warnings.append("the camera was away for \(Quantity.tenths(secondsAwayAtEnd)) s until the end")
        }
        return warnings
    }
}

extension RecordingResult.Output {
    /// The output's content.
    fileprivate var kept: String {
        if format == .timestamps { return "\(output): \(Quantity.count(written, "time"))" }
        if let receivers {
            let taken =
                isConnecting
                ? ", which received \(written) of \(Quantity.count(written + lost, "frame"))" : ""
            return "\(output): \(Quantity.count(receivers, isConnecting ? "connection" : "receiver"))\(taken)"
        }
        let files = segments.map { "\(Quantity.count($0.count, "file")), " } ?? ""
        return written == 0
            ? "\(output): nothing"
            : "\(output): \(files)\(Quantity.count(written, "frame")), \(Quantity.count(keyframes, "keyframe")), \(bytes) bytes"
    }
}

extension RecordingResult.Encoder {
    /// The stream's actual rate next to the requested one, by the stream's own time.
    /// - Parameter label: what it begins with.
    fileprivate func rateLine(_ label: String) -> String? {
        guard let measured = measuredBitRate else { return nil }
        // The latest request does not apply to the time before it.
        let (bitRate, maximumBitRate) = hasChangedRates ? (nil, nil) : (bitRate, maximumBitRate)
        let average = bitRate.map { " (target: \(Megabits(Double($0))))" } ?? ""
        let most = maximumBitRate.map { " (limit: \(Megabits(Double($0))))" } ?? ""
        // A stream that is shorter than a window has no fullest one.
        let peak =
            measuredPeakBitRate > measured
            ? ", \(Megabits(measuredPeakBitRate)) in the fullest \(Quantity.seconds(rateWindowSeconds))\(most)"
            : ""
        return "\(label)\(Megabits(measured)) Mbit/s on average\(average)\(peak)"
    }

    fileprivate var warnings: [String] {
        var warnings = [brokenRates].compactMap { $0 }
        if frames.droppedByEncoder > 0 {
            warnings.append("the encoder lost \(Quantity.count(frames.droppedByEncoder, "frame"))")
        }
        if restarts > 0 {
            warnings.append(
                "the encoder failed and was reopened (\(Quantity.count(restarts, "time"))); now it is \(name)"
            )
        }
        return warnings
    }

    /// Whether the frame rate differs by more than 2 % from the stream's stated rate, over at least a second, so
    /// that jitter does not matter.
    fileprivate var isOffRate: Bool {
        guard let measured = measuredFramesPerSecond, let stated = statedFramesPerSecond else { return false }
        return Double(frames.encoded - 1) >= measured && abs(measured / stated - 1) > 0.02
    }
}

// MARK: Rates

/// A readable bit rate: `2`, `2.75`, `0.452`, `0.00012` Mbit/s.
struct Megabits: CustomStringConvertible {
    private let bitsPerSecond: Double

    init(_ bitsPerSecond: Double) { self.bitsPerSecond = bitsPerSecond }

    var description: String {
        // Above one, hundredths are enough; small rates keep their digits.
        let digits = bitsPerSecond >= 999_500 ? 100.0 : bitsPerSecond >= 500 ? 1000 : 1e6
        let value = (bitsPerSecond / 1e6 * digits).rounded() / digits
        return value == value.rounded() ? "\(Int(value))" : "\(value)"
    }
}

extension RecordingOutcome.Rate {
    /// The requested rates that were not held, with numbers; nil if all were.
    var breach: String? {
        var parts: [String] = []
        if let promise, promise.isMaximumWanted, let brokenWindow, let maximum = brokenMaximum {
            parts.append(
                "\(Megabits(brokenWindow)) Mbit/s in the fullest \(Quantity.seconds(window)) instead of "
                    + "\(Megabits(Double(maximum)))")
        }
        if let promise, promise.isAverageWanted, let brokenAverage, let wanted = wantedAverage {
            parts.append(
                "\(Megabits(brokenAverage)) Mbit/s on average instead of \(Megabits(Double(wanted)))"
            )
        }
        guard !parts.isEmpty else { return nil }
        return "the encoder exceeded its rate: \(parts.joined(separator: "; ")); try another --encoder"
    }
}

// MARK: Progress

/// The status line, redrawn while a recording runs.
struct Progress {
    /// The figures of a recording at one moment.
    struct Figures {
        var frames = 0
        var bytes = 0
        /// Pictures that were captured to be recorded: they come at the camera's pace, which written frames do not when
        /// an encoder or a ring holds some back.
        var captured = 0
        var dropped = 0
        /// How long the pictures in a ring last that waits for a trigger; nil if everything is written.
        var keptTime: Duration?
        /// Whether the pictures have ended, and the encoders and outputs have not.
        var isEnding = false
    }

    let start: Instant
    private var lastTime: Instant
    private var last = Figures()

    init(start: Instant) {
        self.start = start
        lastTime = start
    }

    /// Returns the line: an output's failure and when it began, then frames, rate since the last call, drops
    /// and time.
    mutating func line(_ recording: Recording) -> String {
        outage(of: recording) + line(Figures(recording), at: .now)
    }

    /// Returns the line without failures.
    mutating func line(_ figures: Figures, at now: Instant) -> String {
        let seconds = max(0.001, (now - lastTime).inSeconds)
        let rate = Double(figures.captured - last.captured) / seconds
        let bits = Double(figures.bytes - last.bytes) * 8 / seconds
        (lastTime, last) = (now, figures)
        let written = Quantity.count(figures.frames, "frame")
        let parts: [String] =
            if figures.isEnding {
                [written, "finishing"]
            } else if let kept = figures.keptTime {
                [
                    "ring: \(Int(kept.inSeconds)) s kept, waiting for a trigger",
                    "\(Quantity.tenths(rate)) fps",
                ]
            } else {
                [written, "\(Quantity.tenths(rate)) fps", "\(Quantity.tenths(bits / 1e6)) Mbit/s"]
            }
        return (parts + ["\(figures.dropped) dropped", clock(now - start)]).joined(separator: "  ")
    }

    private func outage(of recording: Recording) -> String {
        if recording.isCameraOff { return "nobody is watching, the camera is off  " }
        for output in recording.outputs {
            guard let outage = output.outage else { continue }
            let since = FileNamePattern("%F %T", expandsTime: true).name(at: outage.since)
            return "\(output.name): \(outage.error.condition) since \(since)  "
        }
        return ""
    }

    private func clock(_ time: Duration) -> String {
        let seconds = time.inMilliseconds / 1000
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}

extension Progress.Figures {
    fileprivate init(_ recording: Recording) {
        frames = recording.outputs.map { $0.counters[.written] }.max() ?? 0
        bytes = recording.outputs.reduce(0) { $0 + $1.counters[.bytes] }
        captured =
            recording.counters[.captured] - recording.counters[.paused] - recording.counters[.notWanted]
        dropped =
            recording.counters[.droppedByDriver] + recording.counters[.droppedByUs]
            + recording.encoderCounters.reduce(0) { $0 + $1[.droppedByEncoder] }
        keptTime = recording.outputs.compactMap(\.keptTime).max()
        isEnding = recording.isCaptured
    }
}
