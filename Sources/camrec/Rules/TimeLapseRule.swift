import CamPictures
import CamRecorder

/// A time lapse is a file, made of pictures that can be chosen one by one.
struct TimeLapseRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let lapse = command.lapse
        guard lapse.every != nil else {
            return lapse.playbackFps == nil
                ? nil : "--playback-fps needs --every, as in --every 10s; add it, or leave this out"
        }
        if command.source.format == .h264 {
            return
                "--every cannot choose from the camera's own H.264, whose frames depend on each other; use another "
                + "--format"
        }
        if command.choices.contains(where: \.isLive) {
            return
                "--every is for files: players take so slow a stream for a broken connection; leave out the others"
        }
        return command.segments.ring == nil
            ? nil : "--every excludes --ring, which keeps what just happened in real time; leave one out"
    }
}
