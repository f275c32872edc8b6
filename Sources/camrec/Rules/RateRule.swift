/// A stream has one kind of rate control, with limits that fit it.
struct RateRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let rate = command.rate
        if rate.qp != nil, rate.quality != nil || rate.bitrate != nil || rate.maxBitrate != nil {
            return "--qp excludes --quality, --bitrate and --max-bitrate; leave them out"
        }
        if let reason = refusal(ofMode: rate) { return reason }
        if let average = rate.bitrate, let maximum = rate.maxBitrate, maximum.value < average.value {
            return "--max-bitrate is below --bitrate; raise it"
        }
        return nil
    }

    /// Returns why an option does not fit the explicitly requested mode.
    private func refusal(ofMode rate: RateOptions) -> String? {
        let hasRate = rate.bitrate != nil || rate.maxBitrate != nil || rate.rateWindow != nil
        let (hasQuantiser, hasQuality) = (rate.qp != nil, rate.quality != nil)
        guard let mode = rate.rateControl.value else {
            return hasQuantiser && rate.rateWindow != nil ? "--qp excludes --rate-window; leave it out" : nil
        }
        let useless: String? =
            switch mode {
            case .cbr where rate.maxBitrate != nil && rate.maxBitrate != rate.bitrate: "--max-bitrate"
            case .cbr where hasQuantiser || hasQuality, .vbr where hasQuantiser || hasQuality:
                "--qp and --quality"
            case .cqp where hasRate || hasQuality: "--bitrate, --max-bitrate, --rate-window and --quality"
            case .icq where hasRate || hasQuantiser: "--bitrate, --max-bitrate, --rate-window and --qp"
            case .qvbr where hasQuantiser: "--qp"
            default: nil
            }
        return useless.map { "--rate-control \(mode.rawValue) does not use \($0); leave it out" }
    }
}
