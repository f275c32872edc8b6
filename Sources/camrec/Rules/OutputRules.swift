import Bitstream
import CamPlatform
import CamRecorder
import CamStorage
import Containers

extension OptionRules {
    private static let mostOutputs = 32

    /// There is at least one output, and not too many.
    static func outputCount(_ command: RecordCommand) -> String? {
        let count = command.outputs.count
        if count == 0, command.live.places.isEmpty {
            return "no OUTPUT is given, and no --listen; name a file, such as out.mkv"
        }
        return count > Self.mostOutputs
            ? "\(count) outputs, more than \(Self.mostOutputs); leave some out" : nil
    }

    /// Each OUTPUT names something that camrec can write, and none is named for another codec than `--codec` requests.
    ///
    /// If either is from a settings file, it is only a warning: such files worked before this rule, and an upgrade must
    /// not end a service.
    static func outputName(_ command: RecordCommand) -> String? {
        let codec = command.stream.codec
        let arguments = command.outputArguments + command.live.listeners.map(\.argument)
        if let complaint = arguments.lazy.compactMap(\.complaint).first { return complaint }
        for output in command.outputArguments {
            if let reason = OutputName(output.name).refusal(codec: output.codec ?? codec) { return reason }
            guard let own = OutputName(output.name).misnamed(for: output.codec) else { continue }
            return "'\(output.name)' is a name for \(own.named), but codec= requests \(own.requested); "
                + "rename it or leave out codec="
        }
        let names = command.arguments.map(OutputArgument.init).filter { $0.codec == nil }.map(\.name)
        guard !command.settings.namesCodec, let (names, named, codec) = misnamed(names, for: codec) else {
            return nil
        }
        let quoted = names.map { "'\($0)'" }.joined(separator: ", ")
        return names.count == 1
            ? "\(quoted) is a name for \(named), but --codec requests \(codec); rename it or leave out --codec"
            : "\(quoted) are names for \(named), but --codec requests \(codec); rename them or leave out --codec"
    }

    /// Returns the names that imply another codec than the requested one; nil if there are none. There are two
    /// codecs, so all of these imply the same one.
    private static func misnamed(
        _ names: [String], for codec: Codec?
    ) -> (names: [String], named: Codec, requested: Codec)? {
        let misnamed = names.compactMap { name in OutputName(name).misnamed(for: codec).map { (name, $0) } }
        return misnamed.first.map { (misnamed.map(\.0), $0.1.named, $0.1.requested) }
    }

    /// The warning that belongs to `outputName`.
    static func outputNameWarning(_ command: RecordCommand) -> String? {
        guard command.arguments.isEmpty || command.settings.namesCodec,
            let (names, _, codec) = misnamed(command.outputs, for: command.stream.codec)
        else { return nil }
        let list = names.joined(separator: ", ")
        return names.count == 1
            ? "\(list) receives \(codec), as --codec requires, which does not match its name; rename it"
            : "\(list) receive \(codec), as --codec requires, which does not match their names; rename them"
    }

    /// A date in a name does not create folders unasked.
    static func date(_ command: RecordCommand) -> String? {
        let now = WallTime.now
        let names =
            command.choices.filter(\.isFile).map(\.path)
            + [command.reporting.timestamps, command.reporting.report].compactMap { $0 }
        return names.lazy.compactMap { command.segments.names($0).refusal(at: now) }.first
    }

    /// `--utc` needs a date to write, in a name or in the pictures.
    static func utc(_ command: RecordCommand) -> String? {
        let segments = command.segments
        guard segments.utc, !segments.isSegmented, !command.choices.contains(where: \.isPattern),
            command.reporting.report?.contains("%") != true, command.picture.overlay == nil
        else { return nil }
        return
            "--utc needs --segment, --ring, --overlay, or an output with a date in its name, as in %H.h264; add one"
    }

    /// Standard output takes one stream.
    static func standardOutput(_ command: RecordCommand) -> String? {
        let uses =
            command.outputs.filter { $0 == FileSink.standardOutput }.map { "'\($0)'" }
            + uses(of: command.reporting.report, by: "--report")
            + uses(of: command.reporting.timestamps, by: "--timestamps")
        guard uses.count > 1 else { return nil }
        return uses[0] == uses[1]
            ? "'-' is given twice; leave one out"
            : "\(uses[0]) and \(uses[1]) both use standard output; name a file for one"
    }

    private static func uses(of path: String?, by option: String) -> [String] {
        path == FileSink.standardOutput ? ["'\(option) -'"] : []
    }

    /// Segments and dated names are never replaced. Scripts that always give `--overwrite` want no warning.
    static func overwrite(_ command: RecordCommand) -> String? {
        command.reporting.verbose && command.reporting.overwrite && !replacesSomething(command)
            ? "--overwrite has no effect: no output would replace a file; leave it out" : nil
    }

    private static func replacesSomething(_ command: RecordCommand) -> Bool {
        if let report = command.reporting.report, report != FileSink.standardOutput { return true }
        return !command.segments.isSegmented && command.choices.contains(where: \.isFile)
    }

    /// Only files are synced to the disk.
    static func sync(_ command: RecordCommand) -> String? {
        command.segments.sync != nil && !command.choices.contains(where: \.isFile)
            ? "--sync needs an output that is a file; name one, or leave it out" : nil
    }
}

extension FileNamePattern {
    /// Why the conversions make no name; nil if they do.
    func refusal(at time: WallTime) -> String? {
        if let unknownConversion {
            return
                "'\(pattern)': \(unknownConversion) is not a conversion of strftime; write %% for a percent sign"
        }
        return misplacedConversion(at: time).map { conversion, text in
            "'\(pattern)': \(conversion) becomes '\(text)', which cannot be part of a name; write %F for the date, "
                + "%H%M%S for the time"
        }
    }
}
