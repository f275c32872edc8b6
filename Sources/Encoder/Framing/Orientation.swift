import CamPictures

/// One of the eight ways to lay a picture down: columns and rows exchanged, then either or both reversed.
struct Orientation: Sendable, Hashable {
    /// Whether the source's columns become rows, from the left one down.
    private(set) var isTransposed = false
    /// Whether what is then left goes right.
    private(set) var reversesColumns = false
    /// Whether what is then on top goes to the bottom.
    private(set) var reversesRows = false

    /// Turns clockwise, then mirrors.
    init(_ rotation: Rotation? = nil, _ flip: Flip? = nil) {
        switch rotation {
        case nil: break
        case .right: (isTransposed, reversesColumns) = (true, true)
        case .upsideDown: (reversesColumns, reversesRows) = (true, true)
        case .left: (isTransposed, reversesRows) = (true, true)
        }
        switch flip {
        case nil: break
        case .horizontal: reversesColumns.toggle()
        case .vertical: reversesRows.toggle()
        }
    }

    /// Whether it leaves pictures as they are.
    var isUpright: Bool { self == Orientation() }

    /// The size of pictures that were of this one.
    func size(of source: PictureSize) -> PictureSize {
        // Both sides are in range, in either order.
        isTransposed ? PictureSize(source.height, source.width) ?? source : source
    }

    /// Where chroma of pictures is that had it at `source`.
    func siting(of source: ChromaSiting) -> ChromaSiting {
        var (x, y) = source.offset
        if isTransposed { (x, y) = (y, x) }
        if reversesColumns { x = 2 - x }
        if reversesRows { y = 2 - y }
        return ChromaSiting(x: x, y: y)
    }
}

/// A turn of the picture, clockwise, in degrees.
public enum Rotation: Int, Sendable, Hashable, CaseIterable {
    case right = 90
    case upsideDown = 180
    case left = 270
}

/// A reflection of the picture.
public enum Flip: String, Sendable, Hashable, CaseIterable {
    /// Left and right are exchanged.
    case horizontal = "h"
    /// Top and bottom are exchanged.
    case vertical = "v"
}
