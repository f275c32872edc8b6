import CamPlatform

/// Makes the line of statistics: what happened in the last whole second.
struct StatisticsMeter {
    /// The line, in pieces that are not broken.
    private(set) var items = ["..."]
    private let isLive: Bool
    private var start: Instant?
    private var pictureCount = 0
    private var longestDelay = Duration.zero
    private var bytesAtStart = 0

    private static let second = Duration.seconds(1)

    /// - Parameter isLive: whether the stream is live, so that the time from arrival to display is meaningful; with sound
    ///   it includes the wait for that.
    init(isLive: Bool) { self.isLive = isLive }

    /// Counts a picture that was shown just now.
    /// - Parameter arrival: when its first byte arrived; nil if unknown.
    mutating func add(
        arrival: Instant?, _ statistics: Presentation.Statistics, at now: Instant = .now
    ) {
        let begun = start ?? now
        start = begun
        pictureCount += 1
        if let arrival {
            longestDelay = max(longestDelay, now - arrival)
        }
        guard now - begun >= Self.second else { return }
        let seconds = (now - begun).inSeconds
        let bits = Double(statistics.totals.bytes - bytesAtStart) * 8
        items =
            [
                "\(Self.decimal(Double(pictureCount) / seconds)) fps",
                "\(Self.decimal(bits / seconds / 1e6)) Mbit/s",
            ] + (isLive ? ["\(Self.decimal(Double(longestDelay.inNanoseconds) / 1e6)) ms"] : [])
            + [
                "late \(statistics.lateCount)", "skipped \(statistics.totals.skipped)",
                "lost \(statistics.totals.losses)", "frozen \(statistics.totals.missing)",
            ]
        (start, pictureCount, longestDelay, bytesAtStart) = (now, 0, .zero, statistics.totals.bytes)
    }

    /// The line, wrapped at a number of characters.
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
