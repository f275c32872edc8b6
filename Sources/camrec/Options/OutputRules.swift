import Bitstream
import Glibc
import Network
import Output

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
    var refusal: String? { ofNames ?? ofStandardOutput ?? ofSegments }

    private var ofNames: String? {
        let outputs = command.outputs
        if outputs.isEmpty, command.live.listen == nil { return "no OUTPUT is given, and no --listen" }
        if case .tcp(let address)? = command.live.listen, case let host = address.host,
            Codec(fileName: host) != nil || ContainerFormat(path: host) != nil
        {
            return "--listen takes '\(host)' for a host; put --listen behind the outputs, or give it a port"
        }
        if outputs.count > Self.mostOutputs {
            return "\(outputs.count) outputs, more than \(Self.mostOutputs)"
        }
        return outputs.lazy.compactMap { OutputName($0).refusal(codec: command.stream.codec) }.first
    }

    private var ofStandardOutput: String? {
        let count = command.outputs.count { $0 == FileSink.standardOutput }
        guard count > 0 else { return nil }
        if command.reporting.report == FileSink.standardOutput {
            return "'-' and '--report -' both want standard output"
        }
        if command.reporting.timestamps == FileSink.standardOutput {
            return "'-' and '--timestamps -' both want standard output"
        }
        return count > 1 ? "'-' is given twice" : nil
    }

    private var ofSegments: String? {
        let segments = command.segments
        if segments.utc, !segments.isSegmented, !choices.contains(where: \.isPattern) {
            return "--utc needs --segment, --ring, or an output with a date in its name, as in %H.h264"
        }
        guard segments.isSegmented else { return nil }
        if !choices.contains(where: \.isFile) { return "--segment and --ring need an output that is a file" }
        if let path = command.reporting.timestamps, path == choices.first?.path {
            return "'\(path)' is the output's name, and that of --timestamps, too"
        }
        guard segments.isLimited else { return nil }
        let now = time(nil)
        let names = choices.filter(\.isFile).flatMap { [$0.path, $0.timestamps].compactMap { $0 } }
        return names.first { !segments.names($0).areKnownAgain(at: now) }.map {
            "--keep and --min-free cannot know such files again: '\($0)'; leave out '..', and write %Y-%m-%d in place "
                + "of what has slashes"
        }
    }
}
