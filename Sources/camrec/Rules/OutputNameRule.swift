import Bitstream
import Output

/// Each OUTPUT names something that camrec can write, and none is named for another codec than `--codec` requests.
///
/// A settings file's names only get a warning: they worked before this rule, and an upgrade must not end a service.
struct OutputNameRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let codec = command.stream.codec
        if let reason = command.outputs.lazy.compactMap({ OutputName($0).refusal(codec: codec) }).first {
            return reason
        }
        return command.arguments.lazy.compactMap { text in
            OutputName(text).misnamed(for: codec).map { named, codec in
                "'\(text)' is a name for \(named), but --codec requests \(codec); rename it or leave out --codec"
            }
        }.first
    }

    func warning(about command: RecordCommand) -> String? {
        guard command.arguments.isEmpty else { return nil }
        return command.settingsOutputs.lazy.compactMap { text in
            OutputName(text).misnamed(for: command.stream.codec).map { _, codec in
                "\(text) receives \(codec), as --codec requires, which does not match its name; rename it"
            }
        }.first
    }
}
