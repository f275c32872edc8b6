import Output
import CamRecorder
import CamSound

/// Sound needs an output that takes it, and pictures that come as they are captured.
struct SoundRule: OptionRule {
    /// Below them speech is not understood, and above nobody hears a difference.
    private static let bitRates = 16_000...512_000

    func refusal(of command: RecordCommand) -> String? {
        let sound = command.sound
        guard sound.isWanted else {
            return sound.audioCodec == nil && sound.audioBitrate == nil || sound.audioDevice != nil
                ? nil : "--audio-codec and --audio-bitrate need --audio; add it"
        }
        if command.lapse.every != nil {
            return "--audio does not fit a time lapse, which has a time of its own; leave it out"
        }
        if !command.source.isInRealTime {
            return
                "--audio needs pictures that come as they are captured; use a camera, or --device test without --no-pace"
        }
        if sound.codec == .flac, sound.audioBitrate != nil {
            return "--audio-bitrate has no effect on flac, which loses nothing; leave it out"
        }
        if let rate = sound.audioBitrate?.value, !Self.bitRates.contains(rate) {
            return "--audio-bitrate: expected 16k to 512k"
        }
        let takers = command.choices.filter { $0.takesSound && $0.hasPictures }
        if takers.isEmpty {
            return
                "--audio needs an output that can contain sound: .mkv, .mp4, .ts, rtsp://, srt:// or udp://; add one"
        }
        if sound.codec == .flac, let other = takers.first(where: { !$0.takesFLAC }) {
            return "\(other.path): flac goes only into .mkv and .mp4; use --audio-codec aac or opus"
        }
        return nil
    }
}
