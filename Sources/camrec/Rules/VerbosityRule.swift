/// `--quiet` and `--verbose` exclude each other.
struct VerbosityRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.reporting.quiet && command.reporting.verbose
            ? "--quiet and --verbose exclude each other; use only one" : nil
    }
}
