import CColor
import CamPictures

/// Scales whole planar pictures, band by band of the result: means of all pixels that a smaller one covers, and between
/// the nearest of those that a larger one lies between.
///
/// libyuv's scaling would allocate memory for each plane of each picture, and makes whole pictures only.
final class PictureScaler {
    /// Where the picture is that is scaled.
    var source: PictureSurface { memory.surface }

    private let memory: PictureMemory
    private let target: PictureSize
    private let luma, chroma: (columns: ScalingFilter, rows: ScalingFilter)
    /// A row of sums.
    private let sums: UnsafeMutablePointer<Int16>

    /// - Parameter siting: where chroma is, in both pictures.
    init(from source: PictureSize, to target: PictureSize, siting: ChromaSiting) throws(ConversionError) {
        memory = try PictureMemory(planar: source)
        self.target = target
        luma = (
            ScalingFilter(from: source.width, to: target.width),
            ScalingFilter(from: source.height, to: target.height)
        )
        let (x, y) = siting.offset
        chroma = (
            ScalingFilter(fromHalfOf: source.width, toHalfOf: target.width, offset: x),
            ScalingFilter(fromHalfOf: source.height, toHalfOf: target.height, offset: y)
        )
        // Weights of zero also have samples.
        let count = source.width + Int(COLOR_SCALE_TAPS)
        sums = .allocate(capacity: count)
        sums.initialize(repeating: 0, count: count)
    }

    deinit { sums.deallocate() }

    /// Scales to rows of which the first is even, into a planar band.
    func scale(_ rows: Range<Int>, into band: PictureSurface.Band) {
        guard case .separate(let cb, let cr) = source.chroma, case .separate(let toCb, let toCr) = band.chroma
        else { preconditionFailure("scaled pictures are planar") }
        let place = BandPlace(rows)
        scale(source.luma, source.size.width, luma, place.luma, into: band.luma)
        scale(cb, half(source.size.width), chroma, place.chroma, into: toCb)
        scale(cr, half(source.size.width), chroma, place.chroma, into: toCr)
    }

    /// Scales the whole picture into another planar one.
    func fill(_ surface: PictureSurface) {
        scale(0..<target.height, into: surface.band(from: 0, rows: target.height))
    }

    private func scale(
        _ source: PictureSurface.Plane, _ width: Int,
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

/// Which samples of a line make each sample of a shorter or longer one, and their weights: a triangle as wide as two
/// samples of the coarser line. Memory of a fixed size, which conversions only read.
final class ScalingFilter {
    /// Samples of the result.
    let count: Int
    /// Samples that make one.
    let taps: Int
    /// For each, the first of them.
    let starts: UnsafeMutablePointer<Int32>
    /// `taps` weights of each, and zeros up to a multiple of `COLOR_SCALE_TAPS`.
    private let weights: UnsafeMutablePointer<Int16>

    private static let one = 1 << 14

    convenience init(from source: Int, to target: Int) {
        let ratio = Double(source) / Double(target)
        self.init(from: source, to: target, ratio: ratio, shift: (ratio - 1) / 2)
    }

    /// For chroma of lines of luma.
    /// - Parameter offset: half luma samples from the first one to the first of chroma.
    convenience init(fromHalfOf source: Int, toHalfOf target: Int, offset: Int) {
        let ratio = Double(source) / Double(target)
        // At luma's place 2j + o/2 in the result there is luma's (2j + o/2 + ½) r − ½ of the source.
        let shift = ((Double(offset) / 2 + 0.5) * ratio - 0.5 - Double(offset) / 2) / 2
        self.init(from: half(source), to: half(target), ratio: ratio, shift: shift)
    }

    /// - Parameter shift: the place in the source of the result's first sample.
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

    /// Weights from one result's first to the next one's.
    private static func stride(taps: Int) -> Int {
        (taps + Int(COLOR_SCALE_TAPS) - 1) / Int(COLOR_SCALE_TAPS) * Int(COLOR_SCALE_TAPS)
    }

    func start(of index: Int) -> Int { Int(starts[index]) }

    func weights(of index: Int) -> UnsafePointer<Int16> {
        UnsafePointer(weights + index * Self.stride(taps: taps))
    }

    /// The samples under a triangle, from the first on, and what each counts. Samples beyond the line's ends are those
    /// at its ends.
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
        // What rounding leaves goes to the largest, so that grey stays grey.
        if let largest = shares.indices.max(by: { shares[$0] < shares[$1] }) {
            weights[largest] += Int16(rest)
        }
    }
}
