import CamPictures

/// Reads pictures of one arrangement as bands of 4:2:0.
protocol PictureReader: AnyObject {
    /// Rows that one call of `read` delivers, except at the picture's end: an even number, at most
    /// `StagingBand.rows`. Valid after `begin`.
    var bandRows: Int { get }

    /// Whether bands already have the target colour encoding instead of the source's.
    var writesWantedColor: Bool { get }

    /// Called once per picture, before its first band.
    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError)

    /// Bands are read from the top down, without gaps.
    /// - Parameter source: the planes of a raw picture, from the band's first row on.
    func read(
        _ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band
    ) throws(ConversionError)

    /// Where the luma of the band is that was read last; for RGB, green stands for it.
    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows
}

extension PictureReader {
    /// The first plane, unless the format has it elsewhere.
    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows { LumaRows(source.plane(0)) }

    /// As many rows as keep a band of a 1080p picture, source and destination, within an L2 cache of
    /// 256 KiB.
    var bandRows: Int { 16 }

    var writesWantedColor: Bool { false }

    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError) {}
}

/// A plane to read from.
struct SourcePlane {
    let base: UnsafePointer<UInt8>
    let stride: Int

    init(_ base: UnsafePointer<UInt8>, stride: Int) {
        self.base = base
        self.stride = stride
    }

    init(_ plane: PictureSurface.Plane) { self.init(plane.base, stride: plane.stride) }

    func row(_ number: Int) -> UnsafePointer<UInt8> { base + number * stride }

    func from(row number: Int) -> SourcePlane { SourcePlane(row(number), stride: stride) }
}
