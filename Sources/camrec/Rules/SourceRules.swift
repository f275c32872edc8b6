import CamConversion
import CamPictures
import CamRecorder
import CamSound
import Capture
import Encoder
import Containers

extension OptionRules {
    /// A source other than a camera has a fixed format.
    static func source(_ command: RecordCommand) -> String? {
        let source = command.source
        guard !source.isCamera else { return nil }
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(source.device, request: source.request)
        } catch { return error.description }
        return nil
    }

    /// A camera sets its own pace.
    static func pace(_ command: RecordCommand) -> String? {
        command.source.pace != nil && command.source.isCamera
            ? "--pace and --no-pace have no effect on a camera, which sets its own pace; leave them out" : nil
    }

    /// Only controls that were set can be restored.
    static func control(_ command: RecordCommand) -> String? {
        command.source.restoreControls && command.source.controlLists.isEmpty
            ? "--restore-controls has nothing to restore without --control; leave it out" : nil
    }

    /// Only pictures that camrec encodes can be changed, and only to sizes that a codec has.
    static func picture(_ command: RecordCommand) -> String? {
        let (picture, source) = (command.picture, command.source)
        if source.isCamera, source.format == .h264, let option = command.changesToPictures.first {
            return "--format h264 uses the camera's own H.264, whose pictures are not decoded; "
                + "leave out \(option), or use another --format"
        }
        if picture.overlay == nil, let detail = picture.overlayDetails.first {
            return "\(detail) needs --overlay with a text, as in '%F %T'; add one"
        }
        if picture.overlayFont == nil, let character = picture.overlay?.missingFromBuiltInFont {
            return
                "the built-in font has no '\(character)', only Latin-1; add --overlay-font with a font file"
        }
        // A camera's size is not known yet: it grants the size nearest to the request.
        let size = source.device == TestSource.name ? source.expectedSize : nil
        do throws(PictureRequestError) { try picture.framing.refuse(within: size) } catch {
            return error.description
        }
        return command.privacy.refusal(within: size)
    }
}

extension RecordCommand {
    /// The given options that change pictures or hide parts of them.
    var changesToPictures: [String] { privacy.given + picture.given }
}

extension SourceOptions {
    /// Says that the test picture and files are never waited for; nil if no option asks for that.
    var waitingNote: String? {
        guard !isCamera else { return nil }
        let given = [wait.map { _ in "--wait" }, deviceTimeout.map { _ in "--device-timeout" }].compactMap {
            $0
        }
        guard !given.isEmpty else { return nil }
        return "\(given.joined(separator: " and ")) matter\(given.count == 1 ? "s" : "") only to cameras"
    }

    /// The size of the pictures, if known before the source is opened.
    var expectedSize: PictureSize? {
        CaptureSource.expectedPictures(device, request: request).size
    }
}

extension OptionRules {
    /// A time lapse is a file, made of pictures that can be chosen one by one.
    static func timeLapse(_ command: RecordCommand) -> String? {
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

    /// Sound needs an output that can contain it, and pictures in real time.
    static func sound(_ command: RecordCommand) -> String? {
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
        let outputs = command.choices.filter { $0.takesSound && $0.hasPictures }
        if outputs.isEmpty {
            return
                "--audio needs an output that can contain sound: .mkv, .mp4, .ts, rtsp://, srt:// or udp://; add one"
        }
        if sound.codec == .flac, let other = outputs.first(where: { !$0.takesFLAC }) {
            return "\(other.path): flac goes only into .mkv and .mp4; use --audio-codec aac or opus"
        }
        return nil
    }
}
