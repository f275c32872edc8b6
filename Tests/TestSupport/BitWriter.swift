/// Writes syntax elements, for streams that no available encoder makes.
public struct BitWriter: Sendable {
    private var bits: [Bool] = []

    /// No bits.
    public init() {}

    /// u(n)
    public mutating func u(_ bitCount: Int, _ value: Int) {
        for shift in (0..<bitCount).reversed() { bits.append(value >> shift & 1 == 1) }
    }

    /// u(1)
    public mutating func flag(_ value: Bool) { bits.append(value) }

    /// ue(v)
    public mutating func ue(_ value: Int) {
        let width = Int.bitWidth - (value + 1).leadingZeroBitCount
        u(width - 1, 0)
        u(width, value + 1)
    }

    /// se(v)
    public mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }

    /// Zeros up to the next byte.
    public mutating func align() { while bits.count % 8 != 0 { bits.append(false) } }

    /// The RBSP with its trailing bits.
    public var rbsp: [UInt8] {
        var padded = bits + [true]
        while padded.count % 8 != 0 { padded.append(false) }
        return stride(from: 0, to: padded.count, by: 8).map { start in
            padded[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        }
    }
}
