import Threading
import Time

/// Carries out commands from the control socket, on the socket's thread.
public struct ControlDesk: Sendable {
    private let control: RecordingControl
    private let stop: Interruption
    private let abilities: Abilities
    private let rates: RateBounds
    private let start: Instant
    private let counters: Counters<CaptureCounter>
    private let encoders: [Counters<EncoderCounter>]
    private let outputs: [RecordingOutput]
    private let snapshots: SnapshotDesk
    private let motion: MotionLog?

    /// The features that a recording's commands depend on.
    public struct Abilities: Sendable, Hashable {
        /// The camera encodes the pictures, and controls keyframes and rates.
        public var isPassthrough: Bool
        /// Pictures stay in memory until a trigger.
        public var hasRing: Bool

        public init(isPassthrough: Bool, hasRing: Bool) {
            self.isPassthrough = isPassthrough
            self.hasRing = hasRing
        }
    }

    /// - Parameters:
    ///   - start: when the recording began.
    ///   - stop: raised to end the recording, as Ctrl-C does.
    ///   - rates: the limits on new rates, updated with each change.
    ///   - isUTC: whether times in snapshots are UTC instead of local time.
    public init(
        _ recording: Recording, since start: Instant, control: RecordingControl, stop: Interruption,
        abilities: Abilities, rates: RateBounds, isUTC: Bool = false
    ) {
        (self.control, self.stop, self.start) = (control, stop, start)
        (self.abilities, self.rates) = (abilities, rates)
        snapshots = SnapshotDesk(recording, isUTC: isUTC)
        (counters, encoders, outputs) = (recording.counters, recording.encoderCounters, recording.outputs)
        motion = recording.motion
    }

    /// What a command leads to.
    public enum Outcome: Sendable {
        case reply(ControlReply)
        /// Something that takes time, and replies itself.
        case snapshot(SnapshotTask)
    }

    /// Carries out a command line, without its newline.
    public func carryOut(_ line: String) -> Outcome {
        let command: ControlCommand
        do throws(ControlCommand.Mistake) { command = try ControlCommand(line) } catch {
            return .reply(ControlReply(error: error.description))
        }
        guard case .snapshot(let format) = command else { return .reply(reply(to: command)) }
        guard !abilities.isPassthrough else {
            return .reply(
                ControlReply(error: "the camera's own H.264 has no single pictures; use another --format"))
        }
        guard let task = snapshots.begin(format) else {
            return .reply(ControlReply(error: "another snapshot is being taken; try again when it is done"))
        }
        return .snapshot(task)
    }

    private func reply(to command: ControlCommand) -> ControlReply {
        switch command {
        case .keyframe:
            guard !abilities.isPassthrough else { return Self.cameraDecides("keyframes") }
            control.requestKeyframe()
        case .trigger:
            guard abilities.hasRing else {
                return ControlReply(error: "no ring is kept in memory; record with --ring")
            }
            guard outputs.contains(where: { !$0.choice.isLive && !$0.hasEnded }) else {
                return ControlReply(error: "the files have ended; start another recording")
            }
            control.trigger()
        case .pause: control.pause()
        case .resume: control.resume()
        case .stop: stop.raise()
        case .stats: return ControlReply(stats: statistics)
        case .bitRate(let rate): return changeAverage(to: rate)
        case .maximumBitRate(let rate): return changeMaximum(to: rate)
        // Takes time; see `carryOut`.
        case .snapshot: break
        }
        return ControlReply()
    }

    private func changeAverage(to rate: Int) -> ControlReply {
        guard !abilities.isPassthrough else { return Self.cameraDecides("rate") }
        if let maximum = rates.maximum, rate > maximum {
            return ControlReply(error: "\(rate) bits a second are more than --max-bitrate \(maximum) allows")
        }
        if let highest = rates.highest, rate > highest { return Self.beyondLevel(rate, highest) }
        guard rate != rates.average else { return ControlReply(isKeyframeForced: false) }
        rates.average = rate
        control.changeBitRate(to: rate)
        return ControlReply(isKeyframeForced: !control.rateChanges.contains(.averageInPlace))
    }

    private func changeMaximum(to rate: Int) -> ControlReply {
        guard !abilities.isPassthrough else { return Self.cameraDecides("rate") }
        if let highest = rates.highest, rate > highest { return Self.beyondLevel(rate, highest) }
        guard control.rateChanges.contains(.maximum) else {
            return ControlReply(
                error: "this recording has no maximum rate to change; "
                    + "start it with --bitrate and --max-bitrate")
        }
        if let average = rates.average, rate < average {
            return ControlReply(error: "\(rate) bits a second are less than the average of \(average)")
        }
        guard rate != rates.maximum else { return ControlReply(isKeyframeForced: false) }
        rates.maximum = rate
        control.changeMaximumBitRate(to: rate)
        return ControlReply(isKeyframeForced: !control.rateChanges.contains(.maximumInPlace))
    }

    private static func cameraDecides(_ what: String) -> ControlReply {
        ControlReply(error: "the camera's own H.264 has the camera's own \(what); use another --format")
    }

    private static func beyondLevel(_ rate: Int, _ highest: Int) -> ControlReply {
        ControlReply(error: "\(rate) bits a second are more than the \(highest) that --level allows")
    }

    private var statistics: RecordingStatistics {
        RecordingStatistics(
            counters, encoders, outputs, seconds: (.now - start).inSeconds,
            isPaused: control.isPaused, motion: motion?.content)
    }
}
