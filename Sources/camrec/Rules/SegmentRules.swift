import CamPlatform
import CamRecorder
import Glibc
import CamStorage

extension OptionRules {
    /// Segments are files and have their own names.
    static func segment(_ command: RecordCommand) -> String? {
        guard command.segments.isSegmented else { return nil }
        let choices = command.choices
        if !choices.contains(where: \.isFile) {
            return "--segment and --ring need an output that is a file; name one"
        }
        if let path = command.reporting.timestamps, path == choices.first?.path {
            return "'\(path)' names both an output and --timestamps; use another name"
        }
        return nil
    }

    /// A number alone is frames to some and milliseconds to others. In a settings file it is seconds, as ever.
    static func bareSegment(_ command: RecordCommand) -> String? {
        guard !command.arguments.isEmpty, let number = command.segments.segment?.bareNumber else {
            return nil
        }
        return "--segment \(number) has no unit; write \(number)s for seconds, or \(number)f for frames"
    }

    /// `--align` puts the beginnings of files on the clock, which only a length in time and pictures in real time allow.
    static func align(_ command: RecordCommand) -> String? {
        guard command.segments.align else { return nil }
        guard case .time(let length)? = command.segments.segment?.length else {
            return "--align needs --segment with a time, such as 10m; add one"
        }
        guard ClockGrid.allows(length) else {
            return "--align needs a --segment that divides a day, such as 10m or 1h; use another"
        }
        return command.source.isInRealTime
            ? nil : "--align needs a camera, or the test picture in real time; leave it out"
    }

    /// Only segments are removed, and only under recognizable names.
    static func retention(_ command: RecordCommand) -> String? {
        let segments = command.segments
        guard segments.isLimited else { return nil }
        guard segments.isSegmented else {
            return "--keep and --min-free need --segment or --ring; add one of these"
        }
        let now = WallTime.now
        let names = command.choices.filter(\.isFile).flatMap { [$0.path, $0.timestamps].compactMap { $0 } }
        return names.first { !segments.names($0).areKnownAgain(at: now) }.map {
            "--keep and --min-free cannot recognise such files later: '\($0)'; leave out '..' after a date"
        }
    }

    /// Options for the time after a trigger need a ring.
    static func ring(_ command: RecordCommand) -> String? {
        command.segments.post != nil && command.segments.ring == nil
            ? "--post needs --ring; add it, as in --ring 30s" : nil
    }

    /// Motion needs a ring to trigger, and pictures in which to detect it.
    static func motion(_ command: RecordCommand) -> String? {
        let motion = command.motion
        guard motion.onMotion else {
            return motion.motionSensitivity == nil && motion.motionMask == nil
                ? nil : "--motion-sensitivity and --motion-mask need --on-motion; add it"
        }
        if command.segments.ring == nil { return "--on-motion needs --ring; add it, as in --ring 10s" }
        return command.source.format == .h264
            ? "--on-motion needs pictures, and --format h264 passes on what the camera has coded; use another --format"
            : nil
    }

    /// `--on-segment` needs a file: other outputs are never finished.
    static func onSegment(_ command: RecordCommand) -> String? {
        command.segments.onSegment != nil && !command.choices.contains(where: \.isFile)
            ? "--on-segment needs an output that is a file; name one, or leave it out" : nil
    }

    /// A missing program must not prevent a recording, least of all a service's.
    static func onSegmentWarning(_ command: RecordCommand) -> String? {
        command.segments.onSegment.flatMap {
            obstacle(to: $0, of: "--on-segment", arguments: "the file, start, end and frames")
        }
    }

    private static func obstacle(to program: String, of option: String, arguments: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) }
        guard let cause = SpawnedProcess.obstacle(to: program, folders: path) else { return nil }
        let hint =
            program.contains(" ")
            ? "give a program alone: its arguments are \(arguments)"
            : "check its name, that it is executable\(program.contains("/") ? "" : ", and PATH")"
        return "\(option) \(program): \(cause); \(hint)"
    }

    /// A kind of event that was named must be able to occur.
    static func onEvent(_ command: RecordCommand) -> String? {
        guard let kinds = command.reporting.onEvent?.kinds else { return nil }
        if kinds.contains(.motion), !command.motion.onMotion {
            return "--on-event with motion needs --on-motion; add it, or leave motion out"
        }
        if kinds.contains(.trigger), command.segments.ring == nil {
            return "--on-event with trigger needs --ring; add it, or leave trigger out"
        }
        return kinds.contains(.camera) && !command.source.isCamera
            ? "--on-event with camera needs a camera; record with --device /dev/videoN, or leave camera out"
            : nil
    }

    /// The warning that belongs to `onEvent`.
    static func onEventWarning(_ command: RecordCommand) -> String? {
        guard let program = command.reporting.onEvent?.path,
            let warning = obstacle(to: program, of: "--on-event", arguments: "the event and its time")
        else { return nil }
        return warning
            + (program.contains(",") ? "; after a comma it takes \(EventProgram.kindList)" : "")
    }
}
