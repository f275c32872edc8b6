/// A software encoder has no GPU to choose.
struct SoftwareEncoderRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let encoder = command.encoder
        guard encoder.encoder == .software,
            encoder.renderNode != nil || encoder.lowPower != .auto || encoder.upload != .auto
                || encoder.jpeg == .gpu || encoder.zeroCopy == .on
        else { return nil }
        return
            "--encoder software excludes --render-node, --low-power, --upload, --jpeg gpu and --zero-copy on; "
            + "leave them out"
    }
}
