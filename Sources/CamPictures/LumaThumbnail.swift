/// A small luma picture for cheap detection of motion. Each cell is the mean of a few samples of a square
/// block of pixels.
///
/// One thread at a time may use it.
public final class LumaThumbnail {
    /// The division of a picture into cells.
    public struct Layout: Sendable, Hashable {
        /// The side of a cell's block in pixels, at least 1. Blocks at the right and at the bottom may be cut off.
        public let block: Int
        /// Cells across: 1 … 160.
        public let columns: Int
        /// Cells down: 1 … 160.
        public let rows: Int

        /// The most cells on a side: 160x90 for 1920x1080.
        public static let longestSide = 160

        /// The cells of pictures of a size.
        public init(of size: PictureSize) {
            block = (max(size.width, size.height) + Self.longestSide - 1) / Self.longestSide
            columns = (size.width + block - 1) / block
            rows = (size.height + block - 1) / block
        }

        /// The number of cells.
        public var count: Int { columns * rows }
    }

    /// Steps of a cell's value in each level of luma.
    public static let stepsPerLevel = 16

    /// The cells of the picture.
    public let layout: Layout
    /// The cells' luma, `stepsPerLevel` a level, row by row from the top, without padding; `layout.count` of them, which
    /// live as long as the thumbnail.
    public let cells: UnsafeMutablePointer<UInt16>

    /// Creates a black thumbnail.
    public init(_ layout: Layout) {
        self.layout = layout
        cells = .allocate(capacity: layout.count)
        cells.initialize(repeating: 0, count: layout.count)
    }

    deinit { cells.deallocate() }

    /// Copies the cells of another thumbnail with the same layout.
    public func copy(_ other: LumaThumbnail) {
        precondition(other.layout == layout)
        cells.update(from: other.cells, count: layout.count)
    }
}
