import Threading

/// The line of statistics: what happened in the last whole second.
struct StatisticsMeter {
    /// The line, in pieces that stay together.
    private(set) var items = ["..."]
    private let isLive: Bool
    private var start: Int64?
    private var pictureCount = 0
    private var longestDelay: Int64 = 0
    private var bytesAtStart = 0

    private static let second: Int64 = 1_000_000_000

    /// - Parameter isLive: whether pictures are shown as they come, so that the time that takes means something.
    init(isLive: Bool) { self.isLive = isLive }

    /// Counts a picture that was shown just now.
    /// - Parameters:
    ///   - arrival: when its first byte arrived; nil if unknown.
    ///   - now: likewise in monotonic nanoseconds.
    mutating func add(
        arrival: Int64?, _ statistics: Presentation.Statistics, at now: Int64 = MonotonicTime.now()
    ) {
        let begun = start ?? now
        start = begun
        pictureCount += 1
        if let arrival {
            longestDelay = max(longestDelay, now.subtractingReportingOverflow(arrival).partialValue)
        }
        guard now - begun >= Self.second else { return }
        let seconds = Double(now - begun) / Double(Self.second)
        let bits = Double(statistics.totals.bytes - bytesAtStart) * 8
        items =
            [
                "\(Self.decimal(Double(pictureCount) / seconds)) fps",
                "\(Self.decimal(bits / seconds / 1e6)) Mbit/s",
            ] + (isLive ? ["\(Self.decimal(Double(longestDelay) / 1e6)) ms"] : [])
            + [
                "late \(statistics.lateCount)", "skipped \(statistics.totals.skipped)",
                "lost \(statistics.totals.losses)", "frozen \(statistics.totals.missing)",
            ]
        (start, pictureCount, longestDelay, bytesAtStart) = (now, 0, 0, statistics.totals.bytes)
    }

    /// The line, wrapped at a number of letters.
    func lines(of columns: Int) -> [String] {
        items.reduce(into: []) { lines, item in
            if let last = lines.last, last.count + 2 + item.count <= columns {
                lines[lines.count - 1] = "\(last)  \(item)"
            } else {
                lines.append(item)
            }
        }
    }

    /// With one decimal place.
    private static func decimal(_ value: Double) -> String {
        let tenths = Int(max(0, min(value, 1e9)) * 10 + 0.5)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
