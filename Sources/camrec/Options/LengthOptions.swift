import ArgumentParser
import Recorder

/// When it ends.
struct LengthOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Stop after N frames.", valueName: "N"))
    var frames: Int?

    @Option(
        help: ArgumentHelp("Stop after a time: 90s, 10m, 1h.", valueName: "TIME"), transform: TimeSpan.read)
    var duration: TimeSpan?

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames must be at least 1") }
    }

    var limits: RecordingLimits {
        RecordingLimits(frames: frames, duration: duration.map { Int64($0.seconds * 1e9) })
    }
}
