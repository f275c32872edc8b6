import CamPictures

/// Reads the selected part of a camera's pictures, band by band. Of raw formats it reads nothing outside that
/// part.
final class SourceWindow {
    /// The size of the selected part.
    let size: PictureSize
    /// Whether bands must be read from the top down.
    let isInOrder: Bool

    private let origin: (x: Int, y: Int)
    private let reader: any PictureReader
    private let weaver: FieldWeaver?
    /// The full-width bands that decoded pictures are cropped from; nil for raw formats and uncropped
    /// pictures.
    private let whole: WholeBands?
    private let sampler: LumaSampler?
    /// Hides parts of the picture in a scratch band before anybody reads it; nil if nothing is hidden.
    private let privacy: (painter: PrivacyPainter, staging: StagingBand)?
    /// The numbers of the Cb and Cr planes of a source whose planes can be used as they are: planar 4:2:0 of which
    /// nothing is hidden or sampled. Nil for all others.
    private let chromaPlanes: (cb: Int, cr: Int)?

    /// - Parameters:
    ///   - crop: the part, with even sides and offsets; nil for the whole picture.
    ///   - makesThumbnails: whether each picture updates `thumbnail` with the part's.
    ///   - hidden: the parts to hide of the whole picture; nil for none.
    init(
        _ source: PictureFormat, crop: CropRectangle?, color: ColorEncoding, makesThumbnails: Bool = false,
        hidden: HiddenArea? = nil
    ) throws(ConversionError) {
        size = crop?.size ?? source.size
        origin = (crop?.x ?? 0, crop?.y ?? 0)
        let isDecoded = source.planes.isEmpty
        isInOrder = isDecoded
        reader = try Self.reader(for: source, size: isDecoded ? source.size : size, color: color)
        weaver = FieldWeaver(source)
        let range = (reader.writesWantedColor ? color : source.color).range
        let isWhole = isDecoded && size != source.size
        let width = isWhole ? source.size.width : size.width
        let left = isWhole ? 0 : crop?.x ?? 0
        let painter = hidden.map { PrivacyPainter($0, range: range, left: left, width: width) }
        whole = isWhole ? WholeBands(reader, size: source.size, painter) : nil
        privacy = isWhole ? nil : painter.map { ($0, StagingBand(width: width)) }
        sampler = makesThumbnails ? LumaSampler(size) : nil
        chromaPlanes =
            if case .planar(2, 2, let first) = source.pixelFormat.arrangement, weaver == nil, hidden == nil,
                !makesThumbnails
            { first == .cb ? (1, 2) : (2, 1) } else { nil }
    }

    /// Whether `planes` has the pictures: reading them would only copy them.
    var isPlanar: Bool { chromaPlanes != nil }

    /// The part of the picture in the buffer's memory; nil unless `isPlanar`.
    func planes(of buffer: borrowing PixelBuffer) -> (luma: SourcePlane, cb: SourcePlane, cr: SourcePlane)? {
        guard let chromaPlanes else { return nil }
        let band = SourceBand(from: origin.y, of: buffer).from(column: origin.x, of: buffer.format)
        return (band.plane(0), band.plane(chromaPlanes.cb), band.plane(chromaPlanes.cr))
    }

    private static func reader(
        for source: PictureFormat, size: PictureSize, color: ColorEncoding
    ) throws(ConversionError) -> any PictureReader {
        switch source.pixelFormat.arrangement {
        case .semiPlanar(2, 2, let firstChroma):
            SemiPlanarReader(firstChroma: firstChroma)
        case .semiPlanar(let horizontal, _, let firstChroma):
            FullHeightSemiPlanarReader(
                width: size.width, horizontal: horizontal, firstChroma: firstChroma)
        case .planar(let horizontal, let vertical, let firstChroma):
            PlanarReader(
                size: size, subsampling: Subsampling(horizontal, vertical), firstChroma: firstChroma)
        case .packed422(let order):
            PackedReader(width: size.width, order: order)
        case .rgb(let bytesPerPixel, let red, let green, let blue):
            RGBReader(
                width: size.width, bytesPerPixel: bytesPerPixel, offsets: (red, green, blue), color: color)
        case .grey:
            GreyReader()
        case .jpeg:
            try MJPEGReader(source)
        case .vendor:
            try VendorReader(source)
        case .h264:
            throw .unsupported(source.pixelFormat, "it is H.264 already")
        }
    }

    /// Whether bands already have the target color encoding instead of the source's.
    var writesWantedColor: Bool { reader.writesWantedColor }

    /// The latest picture's thumbnail; nil if thumbnails are off.
    var thumbnail: LumaThumbnail? { sampler?.thumbnail }

    /// Begins a picture.
    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError) {
        try reader.begin(buffer)
        whole?.begin()
        privacy?.painter.begin()
        sampler?.begin()
    }

    /// Ends a picture after its last band.
    func end() { sampler?.end() }

    /// Returns the rows of the band that begins at an even row.
    func rows(from row: Int) -> Range<Int> {
        let height = reader.bandRows - (whole == nil ? 0 : (origin.y + row) % reader.bandRows)
        return row..<min(row + height, size.height)
    }

    /// Returns the rows of the band that ends before a row. Use it only if `isInOrder` is false.
    func rows(before row: Int) -> Range<Int> { (row - 1) / reader.bandRows * reader.bandRows..<row }

    /// Reads a range of rows that `rows(from:)` or `rows(before:)` returned.
    func read(
        _ rows: Range<Int>, of buffer: borrowing PixelBuffer, into band: PictureSurface.Band
    ) throws(ConversionError) {
        if let whole {
            let luma = try whole.read(
                rows.lowerBound + origin.y..<rows.upperBound + origin.y, from: origin.x, into: band)
            sampler?.take(rows, luma)
            return
        }
        let inSource = rows.lowerBound + origin.y..<rows.upperBound + origin.y
        let source =
            if let weaver {
                weaver.band(inSource, of: buffer).from(column: origin.x, of: buffer.format)
            } else {
                SourceBand(from: inSource.lowerBound, of: buffer).from(
                    column: origin.x, of: buffer.format)
            }
        guard let privacy, privacy.painter.touches(inSource) else {
            try reader.read(rows, from: source, into: band)
            if let sampler { sampler.take(rows, reader.luma(rows, in: source)) }
            return
        }
        let (luma, cb, cr) = privacy.staging.planes
        try reader.read(rows, from: source, into: privacy.staging.band(rows: rows.count))
        privacy.painter.hide(inSource, in: (luma, cb, cr))
        band.copyLuma(from: SourcePlane(luma))
        band.copyChroma(cb: SourcePlane(cb), cr: SourcePlane(cr))
        sampler?.take(rows, LumaRows(SourcePlane(luma)))
    }
}

/// Decodes bands over the full width and crops them.
private final class WholeBands {
    private let reader: any PictureReader
    private let size: PictureSize
    private let staging: StagingBand
    private let painter: PrivacyPainter?
    /// The rows in `staging`.
    private var current = 0..<0

    init(_ reader: any PictureReader, size: PictureSize, _ painter: PrivacyPainter?) {
        (self.reader, self.size, self.painter) = (reader, size, painter)
        staging = StagingBand(width: size.width)
    }

    func begin() {
        current = 0..<0
        painter?.begin()
    }

    /// - Parameter rows: within one band of the reader, not above the rows read last.
    /// - Returns: the rows' luma, valid until the next call.
    func read(
        _ rows: Range<Int>, from column: Int, into band: PictureSurface.Band
    ) throws(ConversionError) -> LumaRows {
        while current.upperBound <= rows.lowerBound {
            let next = current.upperBound..<min(current.upperBound + reader.bandRows, size.height)
            try reader.read(next, from: SourceBand(), into: staging.band(rows: next.count))
            if let painter, painter.touches(next) { painter.hide(next, in: staging.planes) }
            current = next
        }
        let (luma, cb, cr) = staging.planes
        let row = rows.lowerBound - current.lowerBound
        let lumaRows = SourcePlane(luma.row(row) + column, stride: luma.stride)
        band.copyLuma(from: lumaRows)
        band.copyChroma(
            cb: SourcePlane(cb.row(row / 2) + column / 2, stride: cb.stride),
            cr: SourcePlane(cr.row(row / 2) + column / 2, stride: cr.stride))
        return LumaRows(lumaRows)
    }
}

// MARK: - Bands of raw pictures

/// A band of a raw picture in each of its planes, possibly with the rows below it. Valid as long as the
/// picture.
package struct SourceBand {
    private var planes = InlineArray<3, SourcePlane?>(repeating: nil)
    private var rowCounts = InlineArray<3, Int>(repeating: 0)

    /// A band without planes, for compressed formats.
    package init() {}

    /// The picture from luma row `row`, an even number, on. `PixelBuffer` has checked that the picture is
    /// complete.
    package init(from row: Int, of buffer: borrowing PixelBuffer) {
        for (number, plane) in buffer.format.planes.enumerated() {
            guard let start = buffer.plane(number).baseAddress else { continue }
            let first = row / buffer.format.rowsPerRow(ofPlane: number)
            let whole = SourcePlane(start.assumingMemoryBound(to: UInt8.self), stride: plane.stride)
            set(number, whole.from(row: first), rows: plane.rows - first)
        }
    }

    package mutating func set(_ number: Int, _ plane: SourcePlane, rows: Int) {
        planes[number] = plane
        rowCounts[number] = rows
    }

    /// Plane `number` of the format.
    package func plane(_ number: Int) -> SourcePlane {
        guard let plane = planes[number] else { preconditionFailure("a plane that the format does not have") }
        return plane
    }

    /// The same rows, beginning at a column of even number.
    package consuming func from(column: Int, of format: PictureFormat) -> SourceBand {
        guard column > 0 else { return self }
        for number in format.planes.indices {
            planes[number] = planes[number].map {
                SourcePlane($0.base + format.bytes(before: column, ofPlane: number), stride: $0.stride)
            }
        }
        return self
    }

    /// The number of rows available in plane `number`.
    package func rows(_ number: Int) -> Int { rowCounts[number] }
}

extension PictureFormat {
    /// Bytes in a plane's row to the left of a column, an even number.
    package func bytes(before column: Int, ofPlane number: Int) -> Int {
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

// MARK: - Interlaced pictures

/// Interleaves two fields, stored one after the other in each plane, into the picture's row order. It weaves
/// one band at a time, in scratch memory that stays in the cache.
final class FieldWeaver {
    private let format: PictureFormat
    private let firstField: PictureFormat.Field
    /// Scratch memory for a band of each plane.
    private let planes: [UnsafeMutablePointer<UInt8>]

    /// Nil if the picture's rows are already in order.
    init?(_ format: PictureFormat) {
        guard let firstField = format.firstField else { return nil }
        self.format = format
        self.firstField = firstField
        planes = format.planes.map { .allocateAligned(count: $0.rowBytes * StagingBand.rows) }
    }

    deinit {
        for plane in planes { plane.deallocate() }
    }

    /// Luma rows `rows` of the picture, beginning at an even row, with their chroma.
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
