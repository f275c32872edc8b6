import Encoder
import Output
import Recorder
import Terminal
import Threading

/// Carries out what comes through the control socket. Used on the socket's thread.
struct ControlDesk: Sendable {
    let control: RecordingControl
    /// Raised to end the recording as by Ctrl-C.
    let stop: Interruption
    let start: Int64
    let counters: Counters<CaptureCounter>
    let encoders: [Counters<EncoderCounter>]
    let outputs: [RecordingOutput]
    let live: [BroadcastSink]
    /// The camera codes the pictures itself.
    let isPassthrough: Bool
    /// Pictures are kept in memory until something happens.
    let hasRing: Bool
    /// What was asked for, at the start or since.
    let rates: RateBounds

    /// The answer to a line, in JSON, on one line.
    func answer(_ line: String) -> String {
        JSONText.line(of: reply(to: line))
            ?? #"{"error":"the answer is not finite","ok":false}"#
    }

    private func reply(to line: String) -> Reply {
        let command: ControlCommand
        do throws(ControlCommand.Offence) { command = try ControlCommand(line) } catch {
            return Reply(error: error.description)
        }
        switch command {
        case .keyframe:
            guard !isPassthrough else {
                return Reply(
                    error: "the camera's own H.264 has the camera's own keyframes; use another --format")
            }
            control.requestKeyframe()
        case .trigger:
            guard hasRing else { return Reply(error: "nothing is kept in memory; record with --ring") }
            control.trigger()
        case .pause: control.pause()
        case .resume: control.resume()
        case .stop: stop.raise()
        case .stats: return Reply(stats: stats)
        case .bitRate(let rate):
            guard !isPassthrough else {
                return Reply(error: "the camera's own H.264 has the camera's own rate; use another --format")
            }
            if let maximum = rates.maximum, rate > maximum {
                return Reply(error: "\(rate) bits a second are more than --max-bitrate \(maximum) allows")
            }
            if let highest = rates.highest, rate > highest { return Reply.beyondLevel(rate, highest) }
            guard rate != rates.average else { return Reply(isKeyframeForced: false) }
            rates.average = rate
            control.changeBitRate(to: rate)
            return Reply(isKeyframeForced: !control.rateChanges.contains(.averageInPlace))
        case .maximumBitRate(let rate): return changeMaximum(to: rate)
        }
        return Reply()
    }

    private func changeMaximum(to rate: Int) -> Reply {
        guard !isPassthrough else {
            return Reply(error: "the camera's own H.264 has the camera's own rate; use another --format")
        }
        if let highest = rates.highest, rate > highest { return Reply.beyondLevel(rate, highest) }
        guard control.rateChanges.contains(.maximum) else {
            return Reply(
                error: "this recording has no maximum rate that could be changed; "
                    + "begin it with --bitrate and --max-bitrate")
        }
        if let average = rates.average, rate < average {
            return Reply(error: "\(rate) bits a second are less than the average of \(average)")
        }
        guard rate != rates.maximum else { return Reply(isKeyframeForced: false) }
        rates.maximum = rate
        control.changeMaximumBitRate(to: rate)
        return Reply(isKeyframeForced: !control.rateChanges.contains(.maximumInPlace))
    }

    private var stats: Stats {
        Stats(
            state: control.isPaused ? "paused" : "recording",
            seconds: Double(MonotonicTime.now() - start) / 1e9,
            captured: counters[.captured], droppedByDriver: counters[.droppedByDriver],
            corrupt: counters[.corrupt], droppedByUs: counters[.droppedByUs], paused: counters[.paused],
            encoded: encoders.map { $0[.encoded] },
            restarts: counters[.sourceRestarts],
            outputs: outputs.map {
                Stats.Output(
                    output: $0.name, written: $0.counters[.written], keyframes: $0.counters[.keyframes],
                    bytes: $0.counters[.bytes], lost: $0.counters[.lost])
            },
            receivers: RecordingResult.Receiver.all(of: live).filter { $0.left == nil })
    }

    private struct Reply: Encodable {
        /// Whether it is being done: what the encoder can't do is told on the recording's standard error.
        let ok: Bool
        let error: String?
        /// Of a change of rate: the encoder takes it in another session only, which begins with a keyframe.
        let keyframeForced: Bool?
        let stats: Stats?

        init(error: String? = nil, isKeyframeForced: Bool? = nil, stats: Stats? = nil) {
            ok = error == nil
            self.error = error
            keyframeForced = isKeyframeForced
            self.stats = stats
        }

        static func beyondLevel(_ rate: Int, _ highest: Int) -> Reply {
            Reply(error: "\(rate) bits a second are more than the \(highest) that --level allows")
        }
    }

    /// The names are the report's.
    private struct Stats: Encodable {
        /// `recording` or `paused`.
        let state: String
        let seconds: Double
        let captured: Int
        let droppedByDriver: Int
        let corrupt: Int
        let droppedByUs: Int
        let paused: Int
        /// Of each encoder.
        let encoded: [Int]
        /// Of the camera.
        let restarts: Int
        let outputs: [Output]
        /// Those that are there.
        let receivers: [RecordingResult.Receiver]

        struct Output: Encodable {
            let output: String
            let written: Int
            let keyframes: Int
            let bytes: Int
            let lost: Int
        }
    }
}
