import CamConversion
import CamPictures
import Containers

/// The parts of a picture in which motion does not count. A mask of any size is stretched to the picture.
package struct MotionMask: Sendable, Hashable {
    private let drawing: GrayPicture

    /// - Parameter drawing: its dark parts are ignored.
    package init(_ drawing: GrayPicture) { self.drawing = drawing }

    /// Whether the mask ignores everything.
    package var isEmpty: Bool { drawing.levels.allSatisfy { $0 < GrayPicture.leastLight } }

    /// Reads a PGM or PNG picture.
    /// - Throws: an error if the file cannot be read, is no such picture, or ignores everything.
    package init(path: String) throws(InputError) {
        self.init(try GrayPicture(path: path))
        if isEmpty {
            throw InputError(
                .malformed("it ignores the whole picture; paint what is to be watched white"), input: path)
        }
    }

    /// Whether the middle of a part's cell is ignored.
    func ignores(cell: Int, of layout: LumaThumbnail.Layout, in part: WatchedPart) -> Bool {
        let (column, row) = (cell % layout.columns, cell / layout.columns)
        let (size, whole) = (part.size, part.whole)
        let (width, height) = (drawing.size.width, drawing.size.height)
        // A block at the edge may be cut off.
        let x =
            (2 * part.x + min(size.width, (column + 1) * layout.block) + column * layout.block) * width
            / (2 * whole.width)
        let y =
            (2 * part.y + min(size.height, (row + 1) * layout.block) + row * layout.block) * height
            / (2 * whole.height)
        return drawing.levels[min(y, height - 1) * width + min(x, width - 1)] < GrayPicture.leastLight
    }
}
