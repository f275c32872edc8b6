import CamPictures

/// Interleaves two fields, stored one after the other in each plane, into the picture's row order: a band at
/// a time, in scratch memory that stays in the cache.
final class FieldWeaver {
    private let format: PictureFormat
    private let firstField: PictureFormat.Field
    /// One for each plane, with room for a band.
    private let planes: [UnsafeMutablePointer<UInt8>]

    /// Nil for pictures whose rows are in order.
    init?(_ format: PictureFormat) {
        guard let firstField = format.firstField else { return nil }
        self.format = format
        self.firstField = firstField
        planes = format.planes.map { .allocateAligned(count: $0.rowBytes * StagingBand.rows) }
    }

    deinit {
        for plane in planes { plane.deallocate() }
    }

    /// Luma rows `rows` of the picture, which begin at an even one, and the chroma that belongs to them.
    func band(_ rows: Range<Int>, of buffer: borrowing PixelBuffer) -> SourceBand {
        var band = SourceBand()
        for (number, plane) in format.planes.enumerated() {
            let source = buffer.plane(number)
            let divisor = format.rowsPerRow(ofPlane: number)
            let (first, end) = (rows.lowerBound / divisor, (rows.upperBound + divisor - 1) / divisor)
            for row in first..<end {
                let isInFirst = (row % 2 == 0) == (firstField == .top)
                let place = ((isInFirst ? 0 : plane.rows / 2) + row / 2) * plane.stride
                UnsafeMutableRawBufferPointer(
                    start: planes[number] + (row - first) * plane.rowBytes, count: plane.rowBytes
                ).copyMemory(from: UnsafeRawBufferPointer(rebasing: source[place..<place + plane.rowBytes]))
            }
            band.set(number, SourcePlane(planes[number], stride: plane.rowBytes), rows: end - first)
        }
        return band
    }
}
