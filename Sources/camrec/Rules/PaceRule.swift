/// A camera sets its own pace.
struct PaceRule: OptionRule {
    func warning(about command: RecordCommand) -> String? {
        command.source.pace != nil && command.source.isCamera
            ? "--pace and --no-pace have no effect on a camera, which sets its own pace; leave them out" : nil
    }
}
