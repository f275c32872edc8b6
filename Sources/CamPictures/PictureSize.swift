/// Width and height in pixels.
public struct PictureSize: Sendable, Hashable, CustomStringConvertible {
    /// The largest side that is accepted from a driver, a file or the command line. H.264's level 6.2 ends
    /// at 16,888 pixels a side (Annex A); the limit also keeps every product below within 32 bits.
    public static let maximumSide = 16384

    /// 1 … `maximumSide`.
    public let width: Int
    /// 1 … `maximumSide`.
    public let height: Int

    /// The default if nothing else is known: 1280x720.
    package static let usual = PictureSize(width: 1280, height: 720)

    private init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Nil outside 1 … `maximumSide`.
    public init?(_ width: Int, _ height: Int) {
        guard (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height) else {
            return nil
        }
        self.width = width
        self.height = height
    }

    /// Reads `640x480`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else { return nil }
        self.init(width, height)
    }

    /// Pixels.
    public var area: Int { width * height }

    public var description: String { "\(width)x\(height)" }
}
