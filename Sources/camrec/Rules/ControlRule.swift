/// Only controls that were set can be restored.
struct ControlRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.source.restoreControls && command.source.controlLists.isEmpty
            ? "--restore-controls has nothing to restore without --control; leave it out" : nil
    }
}
