/// How small and how faint a thing may be that counts as motion.
///
/// The same things are followed whatever the sensitivity, which only decides which of them count: more sensitive never
/// sees less.
public struct MotionSensitivity: Sendable, Hashable {
    /// From 1, only large and clear things, to 10.
    public static let levels = 1...10
    /// 5.
    public static let usual = MotionSensitivity(level: 5)

    /// The fewest cells of 14,400.
    let leastArea: Float
    /// The least `ChangedArea.excess`.
    let leastExcess: Float

    private init(level: Int) {
        let steps = Float(Self.levels.upperBound - level)
        leastArea = 5 + steps * steps * 0.6
        leastExcess = 1 + steps * 0.09
    }

    /// Nil outside 1 … 10.
    public init?(_ level: Int) {
        guard Self.levels.contains(level) else { return nil }
        self.init(level: level)
    }

    /// Whether a thing is large and clear enough.
    func accepts(_ traveler: Traveler, cells: Int) -> Bool {
        let least = max(4, leastArea * Float(cells) / 14400)
        return Float(traveler.largest.count) >= least && traveler.excess >= leastExcess
    }
}
