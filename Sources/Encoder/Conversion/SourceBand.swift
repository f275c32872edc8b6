import CamPictures

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

    /// The same from a column on, an even number.
    consuming func from(column: Int, of format: PictureFormat) -> SourceBand {
        guard column > 0 else { return self }
        for number in format.planes.indices {
            planes[number] = planes[number].map {
                SourcePlane($0.base + format.bytes(before: column, ofPlane: number), stride: $0.stride)
            }
        }
        return self
    }

    /// How many rows there are of it.
    func rows(_ number: Int) -> Int { rowCounts[number] }
}

extension PictureFormat {
    /// Bytes in a plane's row to the left of a column, an even number.
    func bytes(before column: Int, ofPlane number: Int) -> Int {
        switch pixelFormat.arrangement {
        case .semiPlanar(let horizontal, _, _): number == 0 ? column : column / horizontal * 2
        case .planar(let horizontal, _, _): number == 0 ? column : column / horizontal
        case .packed422: column * 2
        case .rgb(let bytesPerPixel, _, _, _): column * bytesPerPixel
        case .grey, .jpeg, .vendor, .h264: column
        }
    }

    /// Luma rows per row of this plane.
    func rowsPerRow(ofPlane number: Int) -> Int {
        guard number > 0 else { return 1 }
        return switch pixelFormat.arrangement {
        case .semiPlanar(_, let vertical, _), .planar(_, let vertical, _): vertical
        default: 1
        }
    }
}
