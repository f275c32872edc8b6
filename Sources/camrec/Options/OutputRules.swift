import Bitstream
import Glibc
import Network
import Output
import Recorder

/// What a recording's outputs may be, by themselves and beside each other.
struct OutputRules {
    private let command: RecordCommand
    private let choices: [OutputChoice]

    private static let mostOutputs = 32

    init(_ command: RecordCommand) {
        self.command = command
        choices = command.choices
    }

    /// The first reason why they cannot be as they are; nil where they can.
    var refusal: String? { ofNames ?? ofStandardOutput ?? ofDates ?? ofSegments }

    private var ofNames: String? {
        let outputs = command.outputs
        if outputs.isEmpty, command.live.listen == nil {
            return "no OUTPUT is given, and no --listen; name a file, such as out.h264"
        }
        if case .tcp(let address)? = command.live.listen, case let host = address.host,
            Codec(fileName: host) != nil || ContainerFormat(path: host) != nil
        {
            return "--listen takes '\(host)' for a host; put --listen behind the outputs, or give it a port"
        }
        if outputs.count > Self.mostOutputs {
            return "\(outputs.count) outputs, more than \(Self.mostOutputs); leave some out"
        }
        return outputs.lazy.compactMap { OutputName($0).refusal(codec: command.stream.codec) }.first
    }

    private var ofStandardOutput: String? {
        let count = command.outputs.count { $0 == FileSink.standardOutput }
        guard count > 0 else { return nil }
        if command.reporting.report == FileSink.standardOutput {
            return "'-' and '--report -' both want standard output; give one a file"
        }
        if command.reporting.timestamps == FileSink.standardOutput {
            return "'-' and '--timestamps -' both want standard output; give one a file"
        }
        return count > 1 ? "'-' is given twice; leave one out" : nil
    }

    /// A conversion with a slash makes folders that nobody has asked for.
    private var ofDates: String? {
        let now = time(nil)
        let names =
            choices.filter(\.isFile).map(\.path)
            + [command.reporting.timestamps, command.reporting.report].compactMap { $0 }
        for name in names {
            guard let (conversion, text) = command.segments.names(name).misplacedConversion(at: now) else {
                continue
            }
            return
                "'\(name)': \(conversion) becomes '\(text)', which is not a part of a name; write %F for the date, "
                + "%H%M%S for the time"
        }
        return nil
    }

    private var ofSegments: String? {
        let segments = command.segments
        let hasDate = choices.contains(where: \.isPattern) || command.reporting.report?.contains("%") == true
        if segments.utc, !segments.isSegmented, !hasDate {
            return
                "--utc needs --segment, --ring, or an output with a date in its name, as in %H.h264; add one"
        }
        guard segments.isSegmented else { return nil }
        if !choices.contains(where: \.isFile) {
            return "--segment and --ring need an output that is a file; name one"
        }
        if let path = command.reporting.timestamps, path == choices.first?.path {
            return "'\(path)' is the output's name, and that of --timestamps, too; give another"
        }
        guard segments.isLimited else { return nil }
        let now = time(nil)
        let names = choices.filter(\.isFile).flatMap { [$0.path, $0.timestamps].compactMap { $0 } }
        return names.first { !segments.names($0).areKnownAgain(at: now) }.map {
            "--keep and --min-free cannot know such files again: '\($0)'; leave out '..' behind a date"
        }
    }
}
