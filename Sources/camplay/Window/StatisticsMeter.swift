import CamPlatform

/// Makes the line of statistics about the last whole second.
struct StatisticsMeter {
    /// The items of the line, which are not wrapped.
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
                "\(Quantity.tenths(Double(pictureCount) / seconds)) fps",
                "\(Quantity.tenths(bits / seconds / 1e6)) Mbit/s",
            ] + (isLive ? ["\(Quantity.tenths(Double(longestDelay.inNanoseconds) / 1e6)) ms"] : [])
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
}

/// Letters three dots wide and five high, for a line of statistics, because SDL draws no text.
enum BitmapFont {
    /// The size of a letter in dots.
    static let (width, height) = (3, 5)

    /// The positions of a text's dots, as columns and rows from its upper left. Small letters are shown as
    /// capitals, with a blank for missing letters.
    static func dots(of text: String) -> [(column: Int, row: Int)] {
        text.uppercased().enumerated().flatMap { index, letter in
            let rows = glyphs[letter] ?? 0
            return (0..<width * height).compactMap { dot in
                // The first row is the highest octal digit, its left dot the highest bit.
                rows >> (width * height - 1 - dot) & 1 == 1
                    ? (column: index * (width + 1) + dot % width, row: dot / width) : nil
            }
        }
    }

    /// One octal digit per row.
    private static let glyphs: [Character: Int] = [
        "0": 0o75557, "1": 0o26227, "2": 0o71747, "3": 0o71717, "4": 0o55711, "5": 0o74717, "6": 0o74757,
        "7": 0o71122, "8": 0o75757, "9": 0o75717, "A": 0o25755, "B": 0o65656, "C": 0o34443, "D": 0o65556,
        "E": 0o74647, "F": 0o74644, "G": 0o34553, "H": 0o55755, "I": 0o72227, "J": 0o11152, "K": 0o55655,
        "L": 0o44447, "M": 0o57755, "N": 0o65555, "O": 0o25552, "P": 0o65644, "Q": 0o25563, "R": 0o65655,
        "S": 0o34216, "T": 0o72222, "U": 0o55557, "V": 0o55522, "W": 0o55775, "X": 0o55255, "Y": 0o55222,
        "Z": 0o71247, ".": 0o00002, ",": 0o00024, ":": 0o02020, "/": 0o11244, "-": 0o00700,
    ]
}
