/// A window needs a rate to apply to.
struct RateWindowRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let rate = command.rate
        guard rate.rateWindow != nil, rate.quality != nil, rate.bitrate == nil, rate.maxBitrate == nil else {
            return nil
        }
        return "--rate-window with --quality bounds nothing; add --max-bitrate, which holds in it"
    }
}
