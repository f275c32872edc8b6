import CYUV
import CamPictures

/// Compares a picture that a GPU decoded with what libjpeg-turbo makes of it.
///
/// Inverse transforms may round differently, so samples may differ by 2, and by less than a half in the mean. Of 4:2:2,
/// a row of chroma may be either of the two that it comes from, or anything between them.
struct JPEGComparison {
    enum Result: Hashable {
        /// Telling if the picture has light and dark, and colours.
        case same(isTelling: Bool)
        /// With how they differ.
        case different(String)
        /// The picture is damaged, or there is no memory.
        case impossible
    }

    private static let largestDifference = 2

    private var luma = Total()
    private var cb = Total()
    private var cr = Total()

    private struct Total {
        private(set) var largest = 0
        private var sum = 0
        private var count = 0

        /// Whether the samples are of more than a shade.
        var varies: Bool { range.greatest - range.least >= 16 }

        /// Whether the mean is below a half.
        var isClose: Bool { 2 * sum < count }

        /// From the least sample to the greatest.
        private(set) var range = (least: 255, greatest: 0)

        mutating func note(_ difference: Int, at sample: UInt8) {
            range = (min(range.least, Int(sample)), max(range.greatest, Int(sample)))
            largest = max(largest, difference)
            sum += difference
            count += 1
        }
    }

    /// - Parameters:
    ///   - bytes: the JPEG.
    ///   - size: of the stream's pictures.
    ///   - planes: what the GPU made of it.
    static func result(
        _ bytes: UnsafeRawBufferPointer, size: PictureSize, _ planes: SurfaceWriter.Planes
    ) -> Result {
        guard let decoder = cyuv_jpeg_create() else { return .impossible }
        defer { cyuv_jpeg_destroy(decoder) }
        var layout = cyuv_jpeg_layout()
        guard
            cyuv_jpeg_begin(
                decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                Int32(size.width), Int32(size.height), &layout) == CYUV_JPEG_OK, layout.plane_count == 3
        else { return .impossible }
        var comparison = JPEGComparison()
        return comparison.compare(decoder, layout, size, planes) ? comparison.verdict : .impossible
    }

    private var verdict: Result {
        let largest = max(luma.largest, cb.largest, cr.largest)
        if largest > Self.largestDifference {
            return .different("the GPU's pictures differ from the processor's by up to \(largest) levels")
        }
        guard luma.isClose, cb.isClose, cr.isClose else {
            return .different("the GPU's pictures differ from the processor's by half a level in the mean")
        }
        return .same(isTelling: luma.varies && cb.varies && cr.varies)
    }

    private mutating func compare(
        _ decoder: OpaquePointer, _ layout: cyuv_jpeg_layout, _ size: PictureSize,
        _ planes: SurfaceWriter.Planes
    ) -> Bool {
        let stride = (size.width + 31) / 32 * 32 + 64
        let rows = Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * stride * rows)
        defer { memory.deallocate() }
        let band = Band(
            luma: memory, cb: memory + stride * rows, cr: memory + 2 * stride * rows, stride: stride,
            chromaStep: layout.vertical_subsampling == 2 ? 1 : 2)
        var row = 0
        while row < size.height {
            guard cyuv_jpeg_read_band(decoder, memory, stride) == CYUV_JPEG_OK else { return false }
            let count = min(Int(layout.band_rows), size.height - row)
            compareLuma(band, row..<row + count, size.width, planes.luma)
            compareChroma(band, row..<row + count, size.width, planes.chroma)
            row += Int(layout.band_rows)
        }
        return true
    }

    /// A few rows of the reference.
    private struct Band {
        let luma, cb, cr: UnsafeMutablePointer<UInt8>
        let stride: Int
        /// How many of its rows of chroma are one of the picture's.
        let chromaStep: Int
    }

    private mutating func compareLuma(
        _ band: Band, _ rows: Range<Int>, _ width: Int, _ plane: PictureSurface.Plane
    ) {
        for row in rows {
            let (reference, found) = (
                band.luma + (row - rows.lowerBound) * band.stride, plane.base + row * plane.stride
            )
            for column in 0..<width {
                let difference = abs(Int(reference[column]) - Int(found[column]))
                luma.note(difference, at: reference[column])
            }
        }
    }

    private mutating func compareChroma(
        _ band: Band, _ rows: Range<Int>, _ width: Int, _ plane: PictureSurface.Plane
    ) {
        for row in 0..<rows.count / 2 {
            let found = plane.base + (rows.lowerBound / 2 + row) * plane.stride
            let upper = row * band.chromaStep * band.stride
            let lower = upper + (band.chromaStep - 1) * band.stride
            for column in 0..<width / 2 {
                let (one, other) = (upper + column, lower + column)
                cb.note(
                    Self.distance(found[2 * column], band.cb[one], band.cb[other]), at: band.cb[one])
                cr.note(
                    Self.distance(found[2 * column + 1], band.cr[one], band.cr[other]), at: band.cr[one])
            }
        }
    }

    /// How far a value is from the range between two others.
    private static func distance(_ value: UInt8, _ one: UInt8, _ other: UInt8) -> Int {
        max(0, Int(min(one, other)) - Int(value), Int(value) - Int(max(one, other)))
    }
}
