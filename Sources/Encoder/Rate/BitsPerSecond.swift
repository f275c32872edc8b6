import CamPlatform

/// Bits a second, as people write them: `4M`, `800k`, `4000000`.
public struct BitsPerSecond: Sendable, Hashable {
    /// What the text must be, for messages.
    public static let requirement = "expected 1k to 2000M bits a second, as in 800k or 4M"

    /// 1000 to 2,000,000,000.
    public let value: Int

    /// Returns nil if the text is not a bit rate, or is out of range.
    public init?(_ text: String) {
        let (number, unit) = text.splitUnit()
        let factor: Double? =
            switch unit.lowercased() {
            case "": 1
            case "k", "kbps", "kbit/s": 1e3
            case "m", "mbps", "mbit/s": 1e6
            default: nil
            }
        guard let number, let factor, (1000...2e9).contains(number * factor) else { return nil }
        value = Int(number * factor)
    }
}
