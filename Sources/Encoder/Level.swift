import Capture

/// A level of H.264: a bound on size and speed (table A-1).
public struct Level: Sendable, Hashable, CustomStringConvertible {
    /// `level_idc`: ten times the level's number.
    public let number: Int

    /// Reads `4`, `4.1`; nil for what table A-1 does not have.
    public init?(_ text: String) {
        let levels = Self.limits.map { Level(number: $0.number) }
        guard let level = levels.first(where: { $0.description == text || "\($0).0" == text }) else {
            return nil
        }
        self = level
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

    /// MaxBR of table A-1 in bits a second; High has a quarter more (table A-2).
    func maximumBitRate(for profile: EncoderConfiguration.Profile) -> Int {
        guard let limit = Self.limits.first(where: { $0.number == number }) else { return 0 }
        return limit.kilobits * (profile == .high ? 1250 : 1000)
    }

    /// Table A-1: macroblocks a frame and a second, and the bit rate in units of 1000 or 1250 bits a second.
    private static let limits: [(number: Int, frame: Int, second: Int, kilobits: Int)] = [
        (10, 99, 1485, 64), (11, 396, 3000, 192), (12, 396, 6000, 384), (13, 396, 11880, 768),
        (20, 396, 11880, 2000), (21, 792, 19800, 4000), (22, 1620, 20250, 4000), (30, 1620, 40500, 10000),
        (31, 3600, 108_000, 14000), (32, 5120, 216_000, 20000), (40, 8192, 245_760, 20000),
        (41, 8192, 245_760, 50000), (42, 8704, 522_240, 50000), (50, 22080, 589_824, 135_000),
        (51, 36864, 983_040, 240_000), (52, 36864, 2_073_600, 240_000), (60, 139_264, 4_177_920, 240_000),
        (61, 139_264, 8_355_840, 480_000), (62, 139_264, 16_711_680, 800_000),
    ]
}
