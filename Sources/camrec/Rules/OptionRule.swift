/// A dependency between options: every request is carried out, refused, or warned about.
protocol OptionRule: Sendable {
    /// Returns why a command is refused, with the next step, or nil if it is valid.
    func refusal(of command: RecordCommand) -> String?

    /// Returns why an option has no effect, with the next step, or nil if each has one.
    func warning(about command: RecordCommand) -> String?
}

extension OptionRule {
    func refusal(of command: RecordCommand) -> String? { nil }

    func warning(about command: RecordCommand) -> String? { nil }
}

extension RecordCommand {
    /// The rules, in reporting order.
    private static let rules: [any OptionRule] = [
        VerbosityRule(), StandardOutputRule(), SoftwareEncoderRule(), ControlRule(),
        RateRule(),
        OutputCountRule(), ServeOnRule(), ListenValueRule(), OutputNameRule(), DateRule(), UTCRule(),
        SegmentRule(), AlignRule(), RingRule(), MotionRule(), RetentionRule(), PaceRule(), OverwriteRule(),
        SourceRule(), CameraCodingRule(), PictureRule(), ZeroCopyRule(), ClientLimitRule(),
        AddressLimitRule(),
        ClientRule(),
        PublishingRule(), TimeLapseRule(), SoundRule(), StreamFormatRule(), SyncRule(), OnSegmentRule(),
        RateWindowRule(),
        CodingRule(),
    ]

    /// Why the command is refused: the first reason; nil if it is valid.
    var refusal: String? { Self.rules.lazy.compactMap { $0.refusal(of: self) }.first }

    /// Warnings about options that have no effect.
    var warnings: [String] { Self.rules.compactMap { $0.warning(about: self) } }
}

/// `--quiet` and `--verbose` exclude each other.
struct VerbosityRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        command.reporting.quiet && command.reporting.verbose
            ? "--quiet and --verbose exclude each other; use only one" : nil
    }
}
