import Encoder
import CamControlProtocol
import CamPlatform
import Capture
import Synchronization

/// Carries out commands from the control socket, on the socket's thread.
package struct ControlCommandHandler: Sendable {
    private let control: RecordingControl
    private let stop: CancellationFlag
    private let abilities: RecordingStatistics.Abilities
    private let rates: RateBounds
    private let start: Instant
    private let counters: Counters<CaptureCounter>
    private let encoders: [Counters<EncoderCounter>]
    private let outputs: [RecordingOutput]
    private let snapshots: SnapshotHandler
    private let controls: LiveControls
    private let doctor: DoctorProgram
    private let motion: MotionLog?
    private let demand: CameraDemand?
    private let controlTasks = TaskLimit(4)
    private let doctorTasks = TaskLimit(1)
    private let keepingTasks = TaskLimit(4)

    /// Creates the desk of a running recording.
    /// - Parameters:
    ///   - start: when the recording began.
    ///   - stop: raised to end the recording, as Ctrl-C does.
    ///   - rates: the limits on new rates, updated with each change.
    ///   - abilities: which commands have an effect.
    ///   - controls: the camera's controls.
    ///   - doctor: the program that examines this machine.
    ///   - snapshots: how to write snapshots; each command has a format of its own.
    package init(
        _ recording: Recording, since start: Instant, control: RecordingControl, stop: CancellationFlag,
        abilities: RecordingStatistics.Abilities, rates: RateBounds, controls: LiveControls,
        doctor: DoctorProgram, snapshots form: Snapshot.Form
    ) {
        (self.control, self.stop, self.start) = (control, stop, start)
        (self.abilities, self.rates) = (abilities, rates)
        (self.controls, self.doctor) = (controls, doctor)
        snapshots = SnapshotHandler(recording, form)
        (counters, encoders, outputs) = (recording.counters, recording.encoderCounters, recording.outputs)
        (motion, demand) = (recording.motion, recording.demand)
    }

    /// The result of a command.
    package enum Outcome: Sendable {
        case reply(ControlReply)
        case task(any ControlTask)
    }

    /// Carries out a command line, without its newline.
    package func carryOut(_ line: String) -> Outcome {
        do throws(ControlRefusal) {
            switch try command(line) {
            case .snapshot(let format): return .task(try snapshot(format))
            case .controls: return .task(try controlTask(setting: nil))
            case .control(let settings): return .task(try controlTask(setting: settings))
            case .doctor:
                guard let permit = doctorTasks.permit() else {
                    throw ControlRefusal(reason: "the doctor is at work; try again when it is done")
                }
                return .task(DoctorTask(doctor, permit: permit))
            case .keeping(let command):
                guard let permit = keepingTasks.permit() else {
                    throw ControlRefusal(reason: "the disk has not answered yet; try again")
                }
                return .task(KeepingTask(command, outputs, permit: permit))
            case let command: return .reply(reply(to: command))
            }
        } catch { return .reply(ControlReply(error: error.reason)) }
    }

    private func command(_ line: String) throws(ControlRefusal) -> ControlCommand {
        do throws(ControlCommand.Mistake) { return try ControlCommand(line) } catch {
            throw ControlRefusal(reason: error.description)
        }
    }

    private func snapshot(_ format: Snapshot.Format) throws(ControlRefusal) -> SnapshotTask {
        guard abilities.encoding else {
            throw ControlRefusal(
                reason: "the camera's own H.264 has no single pictures; use another --format")
        }
        guard let task = snapshots.begin(format) else {
            throw ControlRefusal(reason: "another snapshot is being taken; try again when it is done")
        }
        return task
    }

    private func controlTask(setting settings: [ControlSetting]?) throws(ControlRefusal) -> CameraControlTask
    {
        guard abilities.controls else {
            throw ControlRefusal(
                reason: "the source is not a camera and has no controls; record with --device /dev/videoN")
        }
        guard let permit = controlTasks.permit() else {
            throw ControlRefusal(reason: "the camera is being asked already; try again when it has answered")
        }
        return CameraControlTask(controls, setting: settings, permit: permit)
    }

    private func reply(to command: ControlCommand) -> ControlReply {
        switch command {
        case .keyframe:
            guard abilities.encoding else { return Self.cameraDecides("keyframes") }
            control.requestKeyframe()
        case .trigger:
            guard abilities.trigger else {
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
        // These take time; see `carryOut`.
        case .snapshot, .controls, .control, .doctor, .keeping: break
        }
        return ControlReply()
    }

    private func changeAverage(to rate: Int) -> ControlReply {
        guard abilities.encoding else { return Self.cameraDecides("rate") }
        if let maximum = rates.maximum, rate > maximum {
            return ControlReply(error: "\(rate) bits a second are more than --max-bitrate \(maximum) allows")
        }
        if let highest = rates.highest, rate > highest { return Self.beyondLevel(rate, highest) }
        guard rate != rates.average else { return ControlReply(keyframeForced: false) }
        rates.average = rate
        control.changeBitRate(to: rate)
        return ControlReply(keyframeForced: !control.rateChanges.contains(.averageInPlace))
    }

    private func changeMaximum(to rate: Int) -> ControlReply {
        guard abilities.encoding else { return Self.cameraDecides("rate") }
        if let highest = rates.highest, rate > highest { return Self.beyondLevel(rate, highest) }
        guard control.rateChanges.contains(.maximum) else {
            return ControlReply(
                error: "this recording has no maximum rate to change; "
                    + "start it with --bitrate and --max-bitrate")
        }
        if let average = rates.average, rate < average {
            return ControlReply(error: "\(rate) bits a second are less than the average of \(average)")
        }
        guard rate != rates.maximum else { return ControlReply(keyframeForced: false) }
        rates.maximum = rate
        control.changeMaximumBitRate(to: rate)
        return ControlReply(keyframeForced: !control.rateChanges.contains(.maximumInPlace))
    }

    private static func cameraDecides(_ what: String) -> ControlReply {
        ControlReply(error: "the camera's own H.264 has the camera's own \(what); use another --format")
    }

    private static func beyondLevel(_ rate: Int, _ highest: Int) -> ControlReply {
        ControlReply(error: "\(rate) bits a second are more than the \(highest) that --level allows")
    }

    private var statistics: RecordingStatistics {
        var statistics = RecordingStatistics(
            counters, encoders, outputs, seconds: (.now - start).inSeconds,
            isPaused: control.isPaused, isCameraOff: demand?.isCameraOff == true,
            motion: motion?.content)
        (statistics.bitRate, statistics.abilities) = (rates.average, abilities)
        return statistics
    }
}

// MARK: Limits on new rates

/// The limits on a new bit rate: the rates requested so far, in bits per second.
package final class RateBounds: Sendable {
    private let values: Mutex<(average: Int?, maximum: Int?)>

    /// The highest rate that the level allows.
    let highest: Int?

    /// Creates bounds; nil means no limit.
    package init(average: Int?, maximum: Int?, highest: Int?) {
        values = Mutex((average, maximum))
        self.highest = highest
    }

    var average: Int? {
        get { values.withLock { $0.average } }
        set { values.withLock { $0.average = newValue } }
    }

    var maximum: Int? {
        get { values.withLock { $0.maximum } }
        set { values.withLock { $0.maximum = newValue } }
    }
}
