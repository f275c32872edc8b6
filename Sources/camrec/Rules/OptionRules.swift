/// The dependencies between options: every request is carried out, refused, or warned about.
///
/// Each rule is a function that returns a sentence with the next step, or nil if the command is fine.
enum OptionRules {
    typealias Rule = @Sendable (RecordCommand) -> String?

    /// The rules that refuse a command, in reporting order: the first reason counts.
    static let refusals: [Rule] = [
        verbosity, standardOutput, softwareEncoder, control, rate, outputCount, serveOn, listenValue,
        outputName, date, utc, segment, bareSegment, align, ring, motion, retention, source, cameraCoding,
        picture,
        zeroCopy, onDemand, clientLimit, addressLimit, client, publishing, timeLapse, sound, streamFormat,
        sync,
        onSegment, onEvent, rateWindow, renditions, coding, stamp,
    ]

    /// The rules that warn of an option without effect, in reporting order.
    static let warnings: [Rule] = [
        outputNameWarning, pace, overwrite, cameraCodingWarning, addressLimitWarning, publishingWarning,
        onSegmentWarning, onEventWarning,
    ]
}

extension RecordCommand {
    /// Why the command is refused: the first reason; nil if it is valid.
    var refusal: String? { OptionRules.refusals.lazy.compactMap { $0(self) }.first }

    /// Warnings about options that have no effect.
    var warnings: [String] { OptionRules.warnings.compactMap { $0(self) } }
}

extension OptionRules {
    /// `--quiet` and `--verbose` exclude each other.
    static func verbosity(_ command: RecordCommand) -> String? {
        command.reporting.quiet && command.reporting.verbose
            ? "--quiet and --verbose exclude each other; use only one" : nil
    }
}
