import Capture

/// A source that is not a camera has nothing to wait for, and gives what it gives.
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
