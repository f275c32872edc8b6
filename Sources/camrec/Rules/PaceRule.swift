/// A camera has its own pace.
struct PaceRule: OptionRule {
    func warning(about command: RecordCommand) -> String? {
        command.source.pace != nil && command.source.isCamera
            ? "--pace and --no-pace have no effect on a camera, which has its own time; leave them out" : nil
    }
}
