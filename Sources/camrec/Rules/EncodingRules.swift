import Bitstream
import CamPictures
import CamRecorder
import Capture
import Encoder

extension OptionRules {
    /// Settings that no encoder supports are refused, whatever the source.
    static func coding(_ command: RecordCommand) -> String? {
        let source = command.source
        let pictures = CaptureSource.expectedPictures(source.device, request: source.request)
        for configuration in command.configurations {
            do throws(EncoderError) {
                try configuration.refuseContradictions()
                let size = configuration.size ?? command.picture.size(of: pictures.size)
                if source.format != .h264, let size {
                    let rate = [configuration.frameRate, pictures.rate].compactMap { $0 }
                        .max { $0.frameDuration < $1.frameDuration }
                    try configuration.refuseBeyondLevel(size, at: configuration.playbackRate ?? rate)
                }
            } catch { return error.description }
        }
        return nil
    }

    /// Renditions are made of decoded pictures, by the processor, and a time lapse has one frame rate.
    static func renditions(_ command: RecordCommand) -> String? {
        let renditions = command.renditions
        for rendition in renditions where rendition.hasOwnRates {
            // The options are the properties' names, too.
            if let reason = refusal(of: command.rate.options(for: rendition)) {
                return "an output's own properties do not fit: \(reason)"
            }
        }
        if isPassthrough(command), renditions.contains(where: { $0 != RenditionChoice(codec: $0.codec) }) {
            return "--format h264 uses the camera's own H.264, which has one size and one rate; "
                + "leave out the outputs' own properties, or use another --format"
        }
        if command.lapse.every != nil, renditions.contains(where: { $0.frameRate != nil }) {
            return "a time lapse has one frame rate; leave out fps="
        }
        guard Set(renditions.map(\.size)).count > 1 else { return nil }
        let encoder = command.encoder
        let option = encoder.jpeg == .gpu ? "--jpeg gpu" : encoder.zeroCopy == .on ? "--zero-copy on" : nil
        return option.map { "outputs of several sizes share a conversion by the processor; leave out \($0)" }
    }

    /// Only cameras and the test picture have capture times.
    static func stamp(_ command: RecordCommand) -> String? {
        guard command.stream.stamp, !command.source.isCamera, command.source.device != TestSource.name else {
            return nil
        }
        return "the pictures of a file have no capture times; leave out --stamp"
    }

    /// A stream has one kind of rate control, with limits that fit it.
    static func rate(_ command: RecordCommand) -> String? { refusal(of: command.rate) }

    private static func refusal(of rate: RateOptions) -> String? {
        if rate.qp != nil, rate.quality != nil || rate.bitrate != nil || rate.maxBitrate != nil {
            return "--qp excludes --quality, --bitrate and --max-bitrate; leave them out"
        }
        if let reason = refusal(ofMode: rate) { return reason }
        if let average = rate.bitrate, let maximum = rate.maxBitrate, maximum.value < average.value {
            return "--max-bitrate is below --bitrate; raise it"
        }
        return nil
    }

    /// Returns why an option does not fit the explicitly requested mode.
    private static func refusal(ofMode rate: RateOptions) -> String? {
        let hasRate = rate.bitrate != nil || rate.maxBitrate != nil || rate.rateWindow != nil
        let (hasQuantiser, hasQuality) = (rate.qp != nil, rate.quality != nil)
        guard let mode = rate.rateControl.value else {
            return hasQuantiser && rate.rateWindow != nil ? "--qp excludes --rate-window; leave it out" : nil
        }
        let useless: String? =
            switch mode {
            case .cbr where rate.maxBitrate != nil && rate.maxBitrate != rate.bitrate: "--max-bitrate"
            case .cbr where hasQuantiser || hasQuality, .vbr where hasQuantiser || hasQuality:
                "--qp and --quality"
            case .cqp where hasRate || hasQuality: "--bitrate, --max-bitrate, --rate-window and --quality"
            case .icq where hasRate || hasQuantiser: "--bitrate, --max-bitrate, --rate-window and --qp"
            case .qvbr where hasQuantiser: "--qp"
            default: nil
            }
        return useless.map { "--rate-control \(mode.rawValue) does not use \($0); leave it out" }
    }

    /// A window needs a rate to apply to.
    static func rateWindow(_ command: RecordCommand) -> String? {
        let rate = command.rate
        guard rate.rateWindow != nil, rate.quality != nil, rate.bitrate == nil, rate.maxBitrate == nil else {
            return nil
        }
        return "--rate-window with --quality bounds nothing; add --max-bitrate, which holds in it"
    }

    /// A software encoder has no GPU to choose.
    static func softwareEncoder(_ command: RecordCommand) -> String? {
        let encoder = command.encoder
        guard encoder.encoder == .software,
            encoder.renderNode != nil || encoder.lowPower != .auto || encoder.upload != .auto
                || encoder.jpeg == .gpu || encoder.zeroCopy == .on
        else { return nil }
        return
            "--encoder software excludes --render-node, --low-power, --upload, --jpeg gpu and --zero-copy on; "
            + "leave them out"
    }

    /// A camera's own H.264 is not re-encoded.
    static func cameraCoding(_ command: RecordCommand) -> String? {
        guard isPassthrough(command) else { return nil }
        let encoder = command.encoder
        let given = [
            encoder.encoder == .auto ? nil : "--encoder", encoder.renderNode.map { _ in "--render-node" },
            encoder.lowPower == .auto ? nil : "--low-power", encoder.upload == .auto ? nil : "--upload",
            encoder.jpeg == .auto ? nil : "--jpeg", encoder.zeroCopy == .auto ? nil : "--zero-copy",
        ]
        if let option = given.compactMap({ $0 }).first {
            return "--format h264 uses the camera's own H.264; leave out \(option)"
        }
        return command.codecs.contains(.hevc)
            ? "the camera's own H.264 cannot be written as H.265; use another --format" : nil
    }

    /// The warning that belongs to `cameraCoding`.
    static func cameraCodingWarning(_ command: RecordCommand) -> String? {
        guard isPassthrough(command) else { return nil }
        // Its pictures do get their capture times.
        var unused = CompressionProperties()
        unused.statesCaptureTime = command.stream.stamp
        let given = command.stream.configurations([RenditionChoice()], rate: command.rate, areAwaited: true)
        guard given != [unused] else { return nil }
        return
            "--format h264 uses the camera's own H.264: options for rate, quality and stream have no effect; "
            + "leave them out, or use another --format"
    }

    private static func isPassthrough(_ command: RecordCommand) -> Bool {
        command.source.isCamera && command.source.format == .h264
    }

    /// `--zero-copy on` excludes options that need a copy of each picture.
    static func zeroCopy(_ command: RecordCommand) -> String? {
        guard command.encoder.zeroCopy == .on else { return nil }
        let source = command.source
        if !source.isCamera { return "--zero-copy on is for cameras; leave it out" }
        if let format = source.format, ![.nv12, .yuyv, .uyvy].contains(format) {
            return "--zero-copy on needs NV12, YUYV or UYVY; use --format nv12, or leave it out"
        }
        let copying = command.changesToPictures.first ?? (command.motion.onMotion ? "--on-motion" : nil)
        return copying.map { "\($0) needs a copy of each picture; leave it or --zero-copy on out" }
    }
}
