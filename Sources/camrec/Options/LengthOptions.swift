import ArgumentParser
import CamRecorder
import CamCommandLine

/// Options for a recording's length.
struct LengthOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Stop after N frames.", valueName: "N"), transform: PlainValue.number(from: 1))
    var frames: Int?

    @Option(
        help: ArgumentHelp("Stop after a time: 90s, 10m, 1h.", valueName: "TIME"), transform: TimeSpan.read)
    var duration: TimeSpan?

    @Flag(help: "After --frames or --duration, end files only; live clients stay until Ctrl-C or SIGTERM.")
    var serveOn = false

    var limits: RecordingLimits {
        RecordingLimits(frames: frames, duration: duration?.duration, servesOn: serveOn)
    }
}
