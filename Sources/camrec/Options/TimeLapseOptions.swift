import ArgumentParser
import CamPictures
import CamRecorder
import CamCommandLine

/// Options for recordings that play faster than they were captured.
struct TimeLapseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record one frame each TIME, up to 24h: 10s, 500ms. --duration, --segment and --timestamps remain real time; rates and keyframes are those of playing.",
            valueName: "TIME"), transform: TimeSpan.reader(0.001...86400, "1ms to 24h"))
    var every: TimeSpan?

    @Option(
        help: ArgumentHelp("Frames per second at which --every plays. Default: 30.", valueName: "F"),
        completion: .frameRate, transform: FrameRate.read)
    var playbackFps: FrameRate?

    /// Nil for a recording in real time.
    var plan: TimeLapse? {
        every.map { TimeLapse(every: $0.duration, playbackRate: playbackFps ?? .usual) }
    }
}
