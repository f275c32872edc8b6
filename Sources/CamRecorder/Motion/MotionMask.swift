import CamPictures

/// The parts of a picture in which motion does not count. A mask has any size and is stretched to the picture's.
public struct MotionMask: Sendable, Hashable {
    private let width: Int
    private let height: Int
    /// Row by row from the top.
    private let levels: [UInt8]

    /// Darker parts are ignored.
    private static let leastLevel = 128

    /// - Parameter levels: row by row from the top, 0 for black to 255 for white.
    /// - Returns: nil if there are not as many levels as the size has pixels.
    public init?(size: PictureSize, levels: [UInt8]) {
        guard levels.count == size.area else { return nil }
        (width, height, self.levels) = (size.width, size.height, levels)
    }

    /// Whether it ignores everything.
    public var isEmpty: Bool { levels.allSatisfy { $0 < Self.leastLevel } }

    /// Whether the middle of a part's cell is ignored.
    func ignores(cell: Int, of layout: LumaThumbnail.Layout, in part: WatchedPart) -> Bool {
        let (column, row) = (cell % layout.columns, cell / layout.columns)
        let (size, whole) = (part.size, part.whole)
        // A block at the edge may be cut off.
        let x =
            (2 * part.x + min(size.width, (column + 1) * layout.block) + column * layout.block) * width
            / (2 * whole.width)
        let y =
            (2 * part.y + min(size.height, (row + 1) * layout.block) + row * layout.block) * height
            / (2 * whole.height)
        return levels[min(y, height - 1) * width + min(x, width - 1)] < Self.leastLevel
    }
}
