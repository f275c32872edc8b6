/// Numbers with units, for people.
package enum Quantity {
    /// A number with at most the given number of decimals, without trailing zeros.
    package static func decimal(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((abs(value) * scale).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        guard fraction != 0 else { return "\(sign)\(whole)" }
        var digits = String(fraction)
        while digits.count < decimals { digits = "0" + digits }
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(sign)\(whole).\(digits)"
    }

    /// A number with exactly one decimal: `2.0`, `-0.4`.
    package static func tenths(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// `1 s`, `0.5 s`
    package static func seconds(_ seconds: Double) -> String { "\(decimal(seconds, 3)) s" }

    /// `950 bit/s`, `64 kbit/s`, `4.1 Mbit/s`
    package static func bitRate(_ value: Double) -> String {
        if value >= 1e6 { return "\(decimal(value / 1e6, 2)) Mbit/s" }
        if value >= 1e3 { return "\(decimal(value / 1e3, 1)) kbit/s" }
        return "\(decimal(value, 0)) bit/s"
    }

    /// `6.67 s`, `2:03.4`, `1:02:03`
    package static func duration(_ seconds: Double) -> String {
        guard seconds >= 60, seconds < 1e9 else { return "\(decimal(seconds, 2)) s" }
        let tenths = Int((seconds * 10).rounded())
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let (hours, minutes) = (tenths / 36000, tenths / 600 % 60)
        let whole = two(tenths / 10 % 60)
        if hours > 0 { return "\(hours):\(two(minutes)):\(whole)" }
        return "\(minutes):\(whole)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)")
    }

    /// `1 frame`, `2 frames`
    package static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
