import CamRecorder

/// A readable bit rate: `2`, `2.75`, `0.452`, `0.00012` Mbit/s.
struct Megabits: CustomStringConvertible {
    private let bitsPerSecond: Double

    init(_ bitsPerSecond: Double) { self.bitsPerSecond = bitsPerSecond }

    var description: String {
        // Above one, hundredths are enough; small rates keep their digits.
        let digits = bitsPerSecond >= 999_500 ? 100.0 : bitsPerSecond >= 500 ? 1000 : 1e6
        let value = (bitsPerSecond / 1e6 * digits).rounded() / digits
        return value == value.rounded() ? "\(Int(value))" : "\(value)"
    }
}

/// `1 s`, `0.5 s`.
func decimalSeconds(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\((seconds * 1000).rounded() / 1000) s"
}

extension RecordingOutcome.Rate {
    /// The requested rates that were not held, with numbers; nil if all were.
    var breach: String? {
        var parts: [String] = []
        if let promise, promise.isMaximumWanted, let brokenWindow, let maximum = brokenMaximum {
            parts.append(
                "\(Megabits(brokenWindow)) Mbit/s in the fullest \(decimalSeconds(window)) instead of "
                    + "\(Megabits(Double(maximum)))")
        }
        if let promise, promise.isAverageWanted, let brokenAverage, let wanted = wantedAverage {
            parts.append(
                "\(Megabits(brokenAverage)) Mbit/s on average instead of \(Megabits(Double(wanted)))"
            )
        }
        guard !parts.isEmpty else { return nil }
        return "the encoder exceeded its rate: \(parts.joined(separator: "; ")); try another --encoder"
    }
}
