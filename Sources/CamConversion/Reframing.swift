import CYUV
import CamPictures

/// Turns, mirrors and scales pictures on their way into a surface.
///
/// Mirroring stays in the cache: a band is reversed between two scratch bands. A turn by a right angle makes
/// columns of rows, and a scaled row needs rows of several bands, so both take an intermediate picture in
/// memory and a second pass. Surfaces are written once, from the top down, as mapped surfaces require; only
/// decoded pictures that are turned upside down are written from the bottom up.
final class Reframing {
    /// The size of the resulting pictures.
    let size: PictureSize

    private let window: SourceWindow
    private let orientation: Orientation
    private let scaler: PictureScaler?
    /// The size after scaling, before the orientation is applied.
    private let flatSize: PictureSize
    /// The intermediate picture before a turn by a right angle; nil without such a turn.
    private let turned: PictureMemory?
    private let input: StagingBand
    private let output: StagingBand

    /// Nil for pictures that keep their orientation and size.
    /// - Parameter isRecolored: whether `convert` will get a recoloring.
    init?(
        _ window: SourceWindow, _ framing: Framing, siting: ChromaSiting, isRecolored: Bool
    ) throws(ConversionError) {
        let orientation = framing.orientation
        let flatSize = framing.scale.map(orientation.size) ?? window.size
        guard !orientation.isUpright || flatSize != window.size else { return nil }
        (self.window, self.orientation, self.flatSize) = (window, orientation, flatSize)
        size = orientation.size(of: flatSize)
        scaler =
            flatSize == window.size
            ? nil
            : try PictureScaler(
                from: window.size, to: flatSize, siting: siting, ownsSource: isRecolored || !window.isPlanar)
        turned = orientation.isTransposed ? try PictureMemory(planar: flatSize) : nil
        input = StagingBand(width: flatSize.width)
        output = StagingBand(width: size.width)
    }

    /// Writes the picture that the window has begun.
    func convert(
        _ buffer: borrowing PixelBuffer, recoloring: inout Recoloring?, overlay: OverlayPainter?,
        into surface: PictureSurface
    ) throws(ConversionError) {
        if let scaler {
            if let memory = scaler.memory {
                try fill(memory, from: buffer, &recoloring)
            } else {
                scaler.source = window.planes(of: buffer)
            }
        }
        if let turned {
            if let scaler {
                scaler.fill(turned.surface)
            } else {
                try fill(turned.surface, from: buffer, &recoloring)
            }
            return turn(turned.surface, overlay, into: surface)
        }
        try mirror(buffer, &recoloring, overlay, into: surface)
    }

    /// Reads the whole window into a picture in memory.
    private func fill(
        _ target: PictureSurface, from buffer: borrowing PixelBuffer, _ recoloring: inout Recoloring?
    ) throws(ConversionError) {
        var row = 0
        while row < window.size.height {
            let rows = window.rows(from: row)
            let band = target.band(from: row, rows: rows.count)
            try window.read(rows, of: buffer, into: band)
            recoloring?.apply(to: band, into: band)
            row = rows.upperBound
        }
    }

    // MARK: Bands that stay rows

    private func mirror(
        _ buffer: borrowing PixelBuffer, _ recoloring: inout Recoloring?, _ overlay: OverlayPainter?,
        into surface: PictureSurface
    ) throws(ConversionError) {
        let height = flatSize.height
        let isFromBelow = orientation.reversesRows && (scaler != nil || !window.isInOrder)
        var done = 0
        while done < height {
            let rows = isFromBelow ? self.rows(before: height - done) : self.rows(from: done)
            let band = input.band(rows: rows.count)
            if let scaler {
                scaler.scale(rows, into: band)
            } else {
                try window.read(rows, of: buffer, into: band)
                recoloring?.apply(to: band, into: band)
            }
            finish(
                rows,
                orientation.reversesRows ? BandPlace(rows, fromBottomOf: height) : BandPlace(rows),
                overlay, into: surface)
            done += rows.count
        }
    }

    private func rows(from row: Int) -> Range<Int> {
        scaler == nil ? window.rows(from: row) : row..<min(row + Self.bandRows, flatSize.height)
    }

    private func rows(before row: Int) -> Range<Int> {
        scaler == nil ? window.rows(before: row) : (row - 1) / Self.bandRows * Self.bandRows..<row
    }

    private static let bandRows = 16

    private func finish(
        _ rows: Range<Int>, _ place: BandPlace, _ overlay: OverlayPainter?, into surface: PictureSurface
    ) {
        guard !orientation.isUpright else {
            overlay?.draw(on: input.band(rows: rows.count), at: place)
            return input.copy(to: surface, at: place)
        }
        let (width, chromaWidth) = (flatSize.width, half(flatSize.width))
        let (from, to) = (input.planes, output.planes)
        mirror(from.luma, into: to.luma, width, rows: rows.count)
        mirror(from.cb, into: to.cb, chromaWidth, rows: half(rows.count))
        mirror(from.cr, into: to.cr, chromaWidth, rows: half(rows.count))
        overlay?.draw(on: output.band(rows: rows.count), at: place)
        output.copy(to: surface, at: place)
    }

    private func mirror(
        _ source: PictureSurface.Plane, into target: PictureSurface.Plane, _ width: Int, rows: Int
    ) {
        let first = orientation.reversesRows ? source.row(rows - 1) : source.base
        let stride = Int32(orientation.reversesRows ? -source.stride : source.stride)
        let copy = orientation.reversesColumns ? MirrorPlane : CopyPlane
        copy(first, stride, target.base, Int32(target.stride), Int32(width), Int32(rows))
    }

    // MARK: Columns that become rows

    private func turn(_ source: PictureSurface, _ overlay: OverlayPainter?, into surface: PictureSurface) {
        guard case .separate(let cb, let cr) = source.chroma else {
            preconditionFailure("the picture in between is planar")
        }
        var row = 0
        while row < size.height {
            let rows = row..<min(row + Self.bandRows, size.height)
            let place = BandPlace(rows)
            turn(source.luma, source.size, place.luma, into: output.planes.luma)
            if let chromaSize = PictureSize(half(source.size.width), half(source.size.height)) {
                turn(cb, chromaSize, place.chroma, into: output.planes.cb)
                turn(cr, chromaSize, place.chroma, into: output.planes.cr)
            }
            overlay?.draw(on: output.band(rows: rows.count), at: place)
            output.copy(to: surface, at: place)
            row = rows.upperBound
        }
    }

    /// Writes rows of the turned plane from the columns of a plane of size `size`.
    private func turn(
        _ source: PictureSurface.Plane, _ size: PictureSize, _ rows: Range<Int>,
        into target: PictureSurface.Plane
    ) {
        let first = orientation.reversesRows ? size.width - rows.upperBound : rows.lowerBound
        // libyuv's rotations reverse either columns or rows; reading the plane from below reverses the
        // columns once more.
        let isFromBelow = orientation.reversesRows == orientation.reversesColumns
        let rotate = orientation.reversesRows ? RotatePlane270 : RotatePlane90
        rotate(
            (isFromBelow ? source.row(size.height - 1) : source.base) + first,
            Int32(isFromBelow ? -source.stride : source.stride), target.base, Int32(target.stride),
            Int32(rows.count), Int32(size.height))
    }
}

/// Scales whole planar pictures, one band of the result at a time. Scaling down averages all covered pixels;
/// scaling up interpolates between the nearest ones. A half, a third and a quarter are means of squares, which is
/// fast: libyuv's box filter.
///
/// libyuv's own scaler allocates memory for each plane of each picture, and scales whole pictures only.
final class PictureScaler {
    /// The planes of a picture.
    typealias Planes = (luma: SourcePlane, cb: SourcePlane, cr: SourcePlane)

    /// Memory for the picture to scale, which is to be written before `scale` is called; nil if `source` is to be set.
    let memory: PictureSurface?
    /// The picture to scale, valid as long as its buffer.
    var source: Planes?

    private let owned: PictureMemory?
    private let sourceSize: PictureSize
    private let target: PictureSize
    /// How many samples of the source each way become one; nil for other ratios than 2 … 4.
    private let box: Int?
    private let luma, chroma: (columns: ScalingFilter, rows: ScalingFilter)
    /// The vertically filtered sums of one row.
    private let sums: UnsafeMutablePointer<Int16>

    /// - Parameters:
    ///   - siting: the chroma siting of both pictures.
    ///   - ownsSource: whether the pictures to scale are written into the scaler's own memory.
    init(
        from source: PictureSize, to target: PictureSize, siting: ChromaSiting, ownsSource: Bool
    ) throws(ConversionError) {
        owned = ownsSource ? try PictureMemory(planar: source) : nil
        memory = owned?.surface
        if let memory, case .separate(let cb, let cr) = memory.chroma {
            self.source = (SourcePlane(memory.luma), SourcePlane(cb), SourcePlane(cr))
        }
        (sourceSize, self.target) = (source, target)
        // At odd sides half the source's chroma is not as many times the result's.
        let isEven = target.width % 2 == 0 && target.height % 2 == 0
        box = (2...4).first {
            isEven && source.width == $0 * target.width && source.height == $0 * target.height
        }
        luma = (
            ScalingFilter(from: source.width, to: target.width),
            ScalingFilter(from: source.height, to: target.height)
        )
        let (x, y) = siting.offset
        chroma = (
            ScalingFilter(fromHalfOf: source.width, toHalfOf: target.width, offset: x),
            ScalingFilter(fromHalfOf: source.height, toHalfOf: target.height, offset: y)
        )
        // The padding weights of zero read samples, too.
        let count = source.width + Int(COLOR_SCALE_TAPS)
        sums = .allocate(capacity: count)
        sums.initialize(repeating: 0, count: count)
    }

    deinit { sums.deallocate() }

    /// Scales rows of the result, the first of them even, into a planar band.
    func scale(_ rows: Range<Int>, into band: PictureSurface.Band) {
        guard let (luma, cb, cr) = source, case .separate(let toCb, let toCr) = band.chroma else {
            preconditionFailure("scaled pictures are planar")
        }
        let place = BandPlace(rows)
        if let box {
            average(luma, box, target.width, place.luma, into: band.luma)
            average(cb, box, half(target.width), place.chroma, into: toCb)
            return average(cr, box, half(target.width), place.chroma, into: toCr)
        }
        scale(luma, sourceSize.width, self.luma, place.luma, into: band.luma)
        scale(cb, half(sourceSize.width), chroma, place.chroma, into: toCb)
        scale(cr, half(sourceSize.width), chroma, place.chroma, into: toCr)
    }

    private func average(
        _ source: SourcePlane, _ ratio: Int, _ width: Int, _ rows: Range<Int>,
        into target: PictureSurface.Plane
    ) {
        for row in rows {
            color_scale_box(
                source.row(ratio * row), source.stride, Int32(ratio), Int32(width),
                target.row(row - rows.lowerBound))
        }
    }

    /// Scales the whole picture into another planar one.
    func fill(_ surface: PictureSurface) {
        scale(0..<target.height, into: surface.band(from: 0, rows: target.height))
    }

    private func scale(
        _ source: SourcePlane, _ width: Int,
        _ filter: (columns: ScalingFilter, rows: ScalingFilter), _ rows: Range<Int>,
        into target: PictureSurface.Plane
    ) {
        for row in rows {
            color_scale_rows(
                source.row(filter.rows.start(of: row)), source.stride, filter.rows.weights(of: row),
                Int32(filter.rows.taps), Int32(width), sums)
            color_scale_columns(
                sums, filter.columns.starts, filter.columns.weights(of: 0), Int32(filter.columns.taps),
                Int32(filter.columns.count), target.row(row - rows.lowerBound))
        }
    }
}

/// The source samples of each scaled sample along a line, and their weights: a triangle as wide as two
/// samples of the coarser line. The tables are computed once; conversions only read them.
final class ScalingFilter {
    /// The number of samples in the result.
    let count: Int
    /// The number of source samples per result.
    let taps: Int
    /// The index of each result's first source sample.
    let starts: UnsafeMutablePointer<Int32>
    /// `taps` weights per result, padded with zeros to a multiple of `COLOR_SCALE_TAPS`.
    private let weights: UnsafeMutablePointer<Int16>

    private static let one = 1 << 14

    convenience init(from source: Int, to target: Int) {
        let ratio = Double(source) / Double(target)
        self.init(from: source, to: target, ratio: ratio, shift: (ratio - 1) / 2)
    }

    /// A filter for the chroma of lines with `source` and `target` luma samples.
    /// - Parameter offset: half luma samples from the first luma sample to the first chroma sample.
    convenience init(fromHalfOf source: Int, toHalfOf target: Int, offset: Int) {
        let ratio = Double(source) / Double(target)
        // At luma's place 2j + o/2 in the result there is luma's (2j + o/2 + ½) r − ½ of the source.
        let shift = ((Double(offset) / 2 + 0.5) * ratio - 0.5 - Double(offset) / 2) / 2
        self.init(from: half(source), to: half(target), ratio: ratio, shift: shift)
    }

    /// - Parameter shift: the position of the result's first sample in the source.
    private init(from source: Int, to target: Int, ratio: Double, shift: Double) {
        let shares = (0..<target).map { index in
            Self.shares(center: Double(index) * ratio + shift, radius: max(1, ratio), last: source - 1)
        }
        count = target
        taps = shares.reduce(1) { max($0, $1.shares.count) }
        starts = .allocate(capacity: target)
        let stride = Self.stride(taps: taps)
        weights = .allocate(capacity: target * stride)
        weights.initialize(repeating: 0, count: target * stride)
        for (index, share) in shares.enumerated() {
            // Rows beyond the last one do not exist, whatever their weight.
            let first = min(share.first, source - taps)
            (starts + index).initialize(to: Int32(first))
            set(weights + (index * stride + share.first - first), share.shares)
        }
    }

    deinit {
        starts.deallocate()
        weights.deallocate()
    }

    /// The distance between two results in `weights`.
    private static func stride(taps: Int) -> Int {
        (taps + Int(COLOR_SCALE_TAPS) - 1) / Int(COLOR_SCALE_TAPS) * Int(COLOR_SCALE_TAPS)
    }

    func start(of index: Int) -> Int { Int(starts[index]) }

    func weights(of index: Int) -> UnsafePointer<Int16> {
        UnsafePointer(weights + index * Self.stride(taps: taps))
    }

    /// The samples under a triangle and the share of each. Beyond its ends, the line repeats its outermost
    /// samples.
    private static func shares(center: Double, radius: Double, last: Int) -> (first: Int, shares: [Double]) {
        let under = Int((center - radius).rounded(.down)) + 1...Int((center + radius).rounded(.up)) - 1
        let first = min(max(under.lowerBound, 0), last)
        let count = min(max(under.upperBound, 0), last) - first + 1
        var shares = [Double](repeating: 0, count: count)
        for place in under {
            shares[min(max(place, 0), last) - first] += radius - abs(Double(place) - center)
        }
        let sum = shares.reduce(0, +)
        return (first, shares.map { $0 / sum })
    }

    private func set(_ weights: UnsafeMutablePointer<Int16>, _ shares: [Double]) {
        var rest = Self.one
        for (tap, share) in shares.enumerated() {
            weights[tap] = Int16((share * Double(Self.one)).rounded())
            rest -= Int(weights[tap])
        }
        // The largest weight absorbs the rounding error, so gray stays gray.
        if let largest = shares.indices.max(by: { shares[$0] < shares[$1] }) {
            weights[largest] += Int16(rest)
        }
    }
}
