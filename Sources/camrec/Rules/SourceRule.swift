import Capture

/// A source other than a camera needs no waiting and has a fixed format.
struct SourceRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let source = command.source
        guard !source.isCamera else { return nil }
        if source.wait != nil { return "--wait is for cameras; leave it out" }
        if source.deviceTimeout != nil { return "--device-timeout is for cameras; leave it out" }
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(source.device, request: source.request)
        } catch { return error.description }
        return nil
    }
}
