import Capture
import Encoder
import Output
import Recorder

/// Which options mean nothing without others, or beside them: what is asked for is done, refused, or warned of.
struct OptionRules {
    private let command: RecordCommand
    private let choices: [OutputChoice]

    init(_ command: RecordCommand) {
        self.command = command
        choices = command.choices
    }

    /// The first option that cannot be followed, with what it needs; nil where there is none.
    var refusal: String? { ofSource ?? ofReceivers ?? ofStream ?? ofCoding }

    /// Options that have no effect here.
    var warnings: [String] {
        var warnings: [String] = []
        if command.source.pace != nil, isCamera {
            warnings.append("--pace and --no-pace have no effect on a camera, which has its own time")
        }
        if command.reporting.overwrite, !replacesSomething {
            warnings.append("--overwrite has no effect: no output here would replace a file")
        }
        return warnings + [ofAddressLimit, ofCodedFormat].compactMap { $0 }
    }

    private var ofAddressLimit: String? {
        guard let limit = command.live.maxClientsPerAddress, let listen = command.live.listen else {
            return nil
        }
        if listen.isLoopback {
            return
                "--max-clients-per-address has no effect: \(listen) is open to this machine alone, whose own "
                + "clients are not limited; leave it out, or listen on 0.0.0.0"
        }
        let most = command.live.options.mostReceivers
        guard limit >= most else { return nil }
        return
            "--max-clients-per-address \(limit) has no effect: --max-clients allows \(most) in all; give less"
    }

    /// A camera's own H.264 is not coded again.
    private var ofCodedFormat: String? {
        guard isCamera, command.source.format == .h264 else { return nil }
        let configurations = command.stream.configurations([.h264], rate: command.rate)
        guard configurations != [EncoderConfiguration()] else { return nil }
        return
            "--format h264 takes the camera's own coding: options of rate, quality and stream have no effect; "
            + "leave them out, or use another --format"
    }

    private var isCamera: Bool {
        guard let device = command.source.device else { return true }
        return !CaptureSource.isBuiltIn(device)
    }

    private var ofSource: String? {
        let source = command.source
        guard isCamera else {
            if source.wait != nil { return "--wait is for cameras; leave it out" }
            if source.deviceTimeout != nil { return "--device-timeout is for cameras; leave it out" }
            do throws(CaptureError) {
                try CaptureSource.refuseImpossible(source.device, request: source.request)
            } catch { return error.description }
            return nil
        }
        guard source.format == .h264 else { return nil }
        let encoder = command.encoder
        let given = [
            encoder.encoder == .auto ? nil : "--encoder", encoder.renderNode.map { _ in "--render-node" },
            encoder.lowPower == .auto ? nil : "--low-power", encoder.upload == .auto ? nil : "--upload",
        ]
        if let option = given.compactMap({ $0 }).first {
            return "--format h264 takes the camera's own coding; leave out \(option)"
        }
        return command.codecs.contains(.hevc)
            ? "the camera's own H.264 cannot be written as H.265; use another --format" : nil
    }

    private var ofReceivers: String? {
        let live = command.live
        if live.listen == nil, live.maxClients != nil {
            return "--max-clients needs --listen; add it, or leave this out"
        }
        if live.listen == nil, live.maxClientsPerAddress != nil {
            return "--max-clients-per-address needs --listen; add it, or leave this out"
        }
        if case .path = live.listen, live.maxClientsPerAddress != nil {
            return "clients of a UNIX socket have no address; leave out --max-clients-per-address"
        }
        let isLive = choices.contains { if case .live = $0.form { true } else { false } }
        guard !isLive else { return nil }
        if live.clientBuffer != nil {
            return "--client-buffer needs --listen or an output tcp://; add one, or leave this out"
        }
        return live.clientTimeout == nil
            ? nil : "--client-timeout needs --listen or an output tcp://; add one, or leave this out"
    }

    private var ofStream: String? {
        if command.segments.sync != nil, !choices.contains(where: \.isFile) {
            return "--sync needs an output that is a file; name one, or leave it out"
        }
        let rate = command.rate
        if rate.rateWindow != nil, rate.quality != nil, rate.bitrate == nil, rate.maxBitrate == nil {
            return "--rate-window with --quality bounds nothing; add --max-bitrate, which holds in it"
        }
        return nil
    }

    /// What no encoder can do, whatever the source.
    private var ofCoding: String? {
        let isCoded = command.source.format == .h264
        let pictures = CaptureSource.expectedPictures(command.source.device, request: command.source.request)
        for configuration in command.stream.configurations(command.codecs, rate: command.rate) {
            do throws(EncoderError) {
                try configuration.refuseContradictions()
                if !isCoded, let size = pictures.size {
                    try configuration.refuseBeyondLevel(size, at: pictures.rate)
                }
            } catch { return error.description }
        }
        return nil
    }

    /// Whether `--overwrite` can apply to any output: segments and dated names are never replaced.
    private var replacesSomething: Bool {
        let report = command.reporting.report
        if let report, report != FileSink.standardOutput { return true }
        return !command.segments.isSegmented && choices.contains(where: \.isFile)
    }
}
