import Capture

/// A level of H.264: a bound on size and speed (table A-1).
public struct Level: Sendable, Hashable, CustomStringConvertible {
    /// `level_idc`: ten times the level's number.
    public let number: Int

    /// Reads `4`, `4.1`; nil for what table A-1 does not have.
    public init?(_ text: String) {
        let digits = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(digits.count), let major = Int(digits[0]),
            let minor = digits.count == 2 ? Int(digits[1]) : 0
        else { return nil }
        guard Self.limits.contains(where: { $0.number == major * 10 + minor }), (0...9).contains(minor) else {
            return nil
        }
        number = major * 10 + minor
    }

    private init(number: Int) { self.number = number }

    /// The lowest level that holds pictures of that size at that rate.
    static func lowest(for size: PictureSize, at rate: FrameRate) -> Level? {
        limits.map { Level(number: $0.number) }.first { $0.holds(size, at: rate) }
    }

    /// MaxFS and MaxMBPS of table A-1, and the limit of a side to the square root of 8 MaxFS (A.3.1 e, f).
    func holds(_ size: PictureSize, at rate: FrameRate) -> Bool {
        guard let limit = Self.limits.first(where: { $0.number == number }) else { return false }
        let (columns, rows) = ((size.width + 15) / 16, (size.height + 15) / 16)
        return columns * rows <= limit.frame && columns * columns <= 8 * limit.frame
            && rows * rows <= 8 * limit.frame
            && Double(columns * rows) * rate.framesPerSecond <= Double(limit.second) * 1.001
    }

    public var description: String {
        number % 10 == 0 ? "\(number / 10)" : "\(number / 10).\(number % 10)"
    }

    /// Table A-1: macroblocks a frame and a second.
    private static let limits: [(number: Int, frame: Int, second: Int)] = [
        (10, 99, 1485), (11, 396, 3000), (12, 396, 6000), (13, 396, 11880), (20, 396, 11880),
        (21, 792, 19800), (22, 1620, 20250), (30, 1620, 40500), (31, 3600, 108_000), (32, 5120, 216_000),
        (40, 8192, 245_760), (41, 8192, 245_760), (42, 8704, 522_240), (50, 22080, 589_824),
        (51, 36864, 983_040), (52, 36864, 2_073_600), (60, 139_264, 4_177_920), (61, 139_264, 8_355_840),
        (62, 139_264, 16_711_680),
    ]
}
