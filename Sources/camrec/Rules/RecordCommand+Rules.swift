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
