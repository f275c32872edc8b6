extension RecordCommand {
    /// In the order in which they are reported.
    private static let rules: [any OptionRule] = [
        VerbosityRule(), StandardOutputRule(), SoftwareEncoderRule(), ControlRule(),
        RateRule(),
        OutputCountRule(), ListenValueRule(), OutputNameRule(), DateRule(), UTCRule(),
        SegmentRule(), RingRule(), RetentionRule(), PaceRule(), OverwriteRule(),
        SourceRule(), CameraCodingRule(), ClientLimitRule(), AddressLimitRule(), ClientRule(),
        SyncRule(), RateWindowRule(), CodingRule(),
    ]

    /// The first reason why it cannot be followed; nil if it can.
    var refusal: String? { Self.rules.lazy.compactMap { $0.refusal(of: self) }.first }

    /// The options that have no effect.
    var warnings: [String] { Self.rules.compactMap { $0.warning(about: self) } }
}
