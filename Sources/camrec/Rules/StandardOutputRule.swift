import Output

/// Standard output takes one stream.
struct StandardOutputRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let uses =
            command.outputs.filter { $0 == FileSink.standardOutput }.map { "'\($0)'" }
            + uses(of: command.reporting.report, by: "--report")
            + uses(of: command.reporting.timestamps, by: "--timestamps")
        guard uses.count > 1 else { return nil }
        return uses[0] == uses[1]
            ? "'-' is given twice; leave one out"
            : "\(uses[0]) and \(uses[1]) both use standard output; name a file for one"
    }

    private func uses(of path: String?, by option: String) -> [String] {
        path == FileSink.standardOutput ? ["'\(option) -'"] : []
    }
}
