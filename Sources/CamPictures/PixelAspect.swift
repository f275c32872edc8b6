/// The shape of pixels that are not square.
public struct PixelAspect: Sendable, Hashable, CustomStringConvertible {
    /// The pixel's width in relation to its height; 1 … 65,535, in lowest terms.
    public let width: Int
    /// The pixel's height; 1 … 65,535, in lowest terms.
    public let height: Int

    /// More than any video has: larger values are mistakes.
    private static let extreme = 8

    /// Nil for square pixels, and for what cannot be. A fraction of larger numbers becomes one that is close to it.
    public init?(_ width: Int, _ height: Int) {
        guard width > 0, height > 0, width != height, width / height < Self.extreme,
            height / width < Self.extreme
        else { return nil }
        var (a, b) = (width, height)
        while b != 0 { (a, b) = (b, a % b) }
        (a, b) = (width / a, height / a)
        while max(a, b) > 65535 { (a, b) = ((a + 1) / 2, (b + 1) / 2) }
        guard a != b else { return nil }
        (self.width, self.height) = (a, b)
    }

    public var description: String { "\(width):\(height)" }
}
