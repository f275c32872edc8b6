import ArgumentParser
import CamPlatform

/// A time: `90s`, `10m`, `1h`, `500ms`; a number without a unit is in seconds.
public struct TimeSpan: ExplainedArgument, CustomStringConvertible {
    public static let requirement = "expected a time such as 500ms, 90s, 10m or 24h, up to 27777h"

    /// Above 0, at most 1e8; 0 only for a position at the beginning.
    public let seconds: Double

    /// Reads a time within limits.
    /// - Parameter words: the limits, as in `1s to 1h`.
    public static func reader(
        _ limits: ClosedRange<Double>, _ words: String
    ) -> @Sendable (String) throws -> TimeSpan {
        { argument in
            guard let time = TimeSpan(argument: argument), limits.contains(time.seconds) else {
                throw ValidationError("expected a time, \(words)")
            }
            return time
        }
    }

    /// Reads a position in a recording, which may be its beginning.
    public static func readPlace(_ argument: String) throws -> TimeSpan {
        let (number, unit) = argument.splitUnit()
        if number == 0, TimeSpan(argument: "1" + unit) != nil { return TimeSpan(seconds: 0) }
        return try read(argument)
    }

    /// A time of this many seconds.
    public init(seconds: Double) { self.seconds = seconds }

    /// In whole nanoseconds; at least one, except for 0.
    public var duration: Duration { seconds == 0 ? .zero : .nanoseconds(max(1, Int64(seconds * 1e9))) }

    /// Nil if it is not a time.
    public init?(argument: String) {
        let (number, unit) = argument.splitUnit()
        let factor: Double? =
            switch unit {
            case "", "s", "sec": 1
            case "ms": 1e-3
            case "m", "min": 60
            case "h": 3600
            default: nil
            }
        guard let number, let factor, number > 0, number * factor <= 1e8 else { return nil }
        seconds = number * factor
    }

    /// In the largest unit that gives a whole number.
    public var description: String {
        for (unit, name) in [(3600.0, "h"), (60, "m"), (1, "s")] where seconds >= unit {
            if (seconds / unit).rounded() * unit == seconds { return "\(Int(seconds / unit))\(name)" }
        }
        return "\(Int((seconds * 1000).rounded()))ms"
    }
}
