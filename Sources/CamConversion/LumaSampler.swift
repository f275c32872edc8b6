import CamPictures

/// Rows of luma samples within a plane, which may hold other samples in between.
package struct LumaRows {
    private let plane: SourcePlane
    private let offset: Int
    private let step: Int

    /// - Parameters:
    ///   - plane: begins with the first row.
    ///   - offset: bytes from a row's start to its first sample.
    ///   - step: bytes from one sample to the next.
    package init(_ plane: SourcePlane, offset: Int = 0, step: Int = 1) {
        (self.plane, self.offset, self.step) = (plane, offset, step)
    }

    /// A row's first sample.
    package func row(_ number: Int) -> UnsafePointer<UInt8> { plane.row(number) + offset }

    /// The offset of a sample within its row, in bytes.
    package func place(_ column: Int) -> Int { column * step }
}

/// Takes a thumbnail from a picture's rows while they are in the cache.
///
/// Each cell reads at most four samples across and two down, regardless of the cell's size.
package final class LumaSampler {
    /// The latest picture's thumbnail, valid after `end`.
    package let thumbnail: LumaThumbnail
    /// The columns of each cell's samples in a row.
    private let columns: UnsafeMutablePointer<Int32>
    private let (across, down): (Int, Int)
    private let size: PictureSize

    package init(_ size: PictureSize) {
        self.size = size
        let layout = LumaThumbnail.Layout(of: size)
        thumbnail = LumaThumbnail(layout)
        (across, down) = (min(layout.block, 4), min(layout.block, 2))
        columns = .allocate(capacity: layout.columns * across)
        for cell in 0..<layout.columns {
            for sample in 0..<across {
                let column = Self.place(sample, of: across, inCell: cell, block: layout.block)
                columns[cell * across + sample] = Int32(min(column, size.width - 1))
            }
        }
    }

    deinit { columns.deallocate() }

    /// Spreads samples evenly over a cell.
    private static func place(_ sample: Int, of count: Int, inCell cell: Int, block: Int) -> Int {
        cell * block + (2 * sample + 1) * block / (2 * count)
    }

    /// Begins a picture.
    package func begin() {
        thumbnail.cells.update(repeating: 0, count: thumbnail.layout.count)
    }

    /// Adds the samples of some rows to their cells. Pass each row once, in any order.
    /// - Parameter luma: begins with the first of the rows.
    package func take(_ rows: Range<Int>, _ luma: LumaRows) {
        let layout = thumbnail.layout
        let first = min(rows.lowerBound / layout.block, layout.rows - 1)
        let last = min((rows.upperBound - 1) / layout.block, layout.rows - 1)
        for cellRow in first...last {
            for sample in 0..<down {
                let row = min(
                    size.height - 1, Self.place(sample, of: down, inCell: cellRow, block: layout.block))
                guard rows.contains(row) else { continue }
                add(luma.row(row - rows.lowerBound), luma, to: thumbnail.cells + cellRow * layout.columns)
            }
        }
    }

    /// Ends a picture: divides the sums into means.
    package func end() {
        let samples = across * down
        for cell in 0..<thumbnail.layout.count {
            let sum = Int(thumbnail.cells[cell])
            thumbnail.cells[cell] = UInt16(sum * LumaThumbnail.stepsPerLevel / samples)
        }
    }

    private func add(
        _ row: UnsafePointer<UInt8>, _ luma: LumaRows, to cells: UnsafeMutablePointer<UInt16>
    ) {
        for cell in 0..<thumbnail.layout.columns {
            var sum = cells[cell]
            for sample in cell * across..<(cell + 1) * across {
                sum += UInt16(row[luma.place(Int(columns[sample]))])
            }
            cells[cell] = sum
        }
    }
}
