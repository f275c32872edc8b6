import Capture
import Encoder
import Output
import CamPictures
import CamRecorder
import CamCommandLine

/// Reports what a recording chose and why, once everything is open.
struct RecordingNotes {
    let command: RecordCommand
    let console: Console

    func report(_ source: RecordingOutcome.Source, _ providers: [BackendEncoderProvider]) {
        report(source)
        for node in providers.first?.hungNodes ?? [] {
            console.warn("\(node): its driver is not responding; left out")
        }
        for choice in providers.compactMap(\.choice) { report(choice) }
        for warning in command.warnings { console.warn(warning) }
        if let advice = providers.first.map({ advice(on: $0, source.format) }) {
            for note in advice.notes { console.inform(note) }
            for warning in advice.warnings { console.warn(warning) }
        }
    }

    private func report(_ source: RecordingOutcome.Source) {
        let format = source.format
        console.inform(
            "source: \(source.identity.name) (\(source.identity.device)), \(format.pixelFormat) \(format.size) "
                + "at \(format.frameRate) frames/s\(format.isInterlaced ? ", interlaced" : "")")
        for change in source.controlChanges { report(change) }
        for error in source.missingControls { console.warn("\(error) (the recording goes on without it)") }
        if !source.isLive, command.picture.overlay?.hasTime == true {
            console.warn(
                "--overlay: these pictures have no time of capture, and the text counts from the machine's start; "
                    + "use {frame}")
        }
        if let every = command.lapse.every, let plan = command.lapse.plan {
            console.inform("time lapse: a frame each \(every), played at \(plan.playbackRate) frames/s")
        }
    }

    private func report(_ change: ControlChange) {
        let (control, wanted) = (change.control, change.control.text(of: change.wanted))
        guard let granted = change.granted, granted != change.wanted else {
            return console.inform("control: \(control.name) is \(wanted)")
        }
        console.warn(
            "\(control.name): requested \(wanted), but the camera set \(control.text(of: granted))")
    }

    private func report(_ choice: EncoderChoice) {
        let reasons = choice.passedOver.joined(separator: "; ")
        console.inform("encoder: \(choice.name)" + (reasons.isEmpty ? "" : " (because: \(reasons))"))
        for note in choice.notes {
            if note.contradictsRequest {
                console.warn("\(note)")
            } else {
                console.inform("note: \(note)")
            }
        }
    }

    private func advice(on provider: BackendEncoderProvider, _ format: PictureFormat) -> SegmentAdvice {
        let lapse = command.lapse.plan
        let frames = provider.keyframeInterval.frames(
            framesPerSecond: (lapse?.playbackRate ?? format.frameRate).framesPerSecond)
        let frameInterval = lapse?.interval ?? format.frameRate.frameDuration
        return SegmentAdvice(
            segments: command.segments,
            rate: SegmentAdvice.Rate(provider.choice?.details?.rateControl),
            keyframeDistance: Double(frames) * frameInterval.inSeconds)
    }
}
