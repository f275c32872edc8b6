import Bitstream
import Encoder
import CamPictures

/// A camera's own H.264 is not re-encoded.
struct CameraCodingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
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

    func warning(about command: RecordCommand) -> String? {
        guard isPassthrough(command),
            command.stream.configurations([.h264], rate: command.rate, areAwaited: true)
                != [EncoderConfiguration()]
        else { return nil }
        return
            "--format h264 uses the camera's own H.264: options for rate, quality and stream have no effect; "
            + "leave them out, or use another --format"
    }

    private func isPassthrough(_ command: RecordCommand) -> Bool {
        command.source.isCamera && command.source.format == .h264
    }
}
