import Pictures

/// Rows of a raw picture in each of its planes: a band, and possibly the rows after it. Valid as long as the
/// picture.
struct SourceBand {
    private var planes = InlineArray<3, SourcePlane?>(repeating: nil)
    private var rowCounts = InlineArray<3, Int>(repeating: 0)

    /// Without planes, for formats that have none.
    init() {}

    /// The picture from luma row `row`, an even number, on. `PixelBuffer` has checked that it is whole.
    init(from row: Int, of buffer: borrowing PixelBuffer) {
        for (number, plane) in buffer.format.planes.enumerated() {
            guard let start = buffer.plane(number).baseAddress else { continue }
            let first = row / buffer.format.rowsPerRow(ofPlane: number)
            let whole = SourcePlane(start.assumingMemoryBound(to: UInt8.self), stride: plane.stride)
            set(number, whole.from(row: first), rows: plane.rows - first)
        }
    }

    mutating func set(_ number: Int, _ plane: SourcePlane, rows: Int) {
        planes[number] = plane
        rowCounts[number] = rows
    }

    /// Plane `number` of the format.
    func plane(_ number: Int) -> SourcePlane {
        guard let plane = planes[number] else { preconditionFailure("a plane that the format does not have") }
        return plane
    }

    /// How many rows there are of it.
    func rows(_ number: Int) -> Int { rowCounts[number] }
}

extension PictureFormat {
    /// Luma rows per row of this plane.
    func rowsPerRow(ofPlane number: Int) -> Int {
        guard number > 0 else { return 1 }
        return switch pixelFormat.arrangement {
        case .semiPlanar(_, let vertical, _), .planar(_, let vertical, _): vertical
        default: 1
        }
    }
}
