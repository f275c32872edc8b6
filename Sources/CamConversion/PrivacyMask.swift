import CamPictures

/// The parts of a camera's pictures to hide. Positions are in the pictures as the camera delivers them: before crop,
/// rotation and scaling.
public struct PrivacyMask: Sendable, Hashable {
    /// Hidden rectangles, which must lie within the picture.
    public var rectangles: [CropRectangle]
    /// A hidden area of any shape; nil for none.
    public var shape: Shape?
    /// What is shown in place of what is hidden.
    public var fill: Fill

    /// What is shown in place of a hidden part.
    public enum Fill: String, Sendable, Hashable, CaseIterable {
        case black
        /// Blocks of a twentieth of the picture, each in one color.
        case mosaic
    }

    /// An area drawn as a picture, whose dark parts are hidden. It has the proportions of the camera's pictures.
    public struct Shape: Sendable, Hashable {
        /// The file's name, for messages.
        public let name: String
        /// The drawing.
        public let drawing: GrayPicture

        /// - Returns: nil if nothing is hidden.
        public init?(_ drawing: GrayPicture, name: String) {
            guard drawing.levels.contains(where: { $0 < GrayPicture.leastLight }) else { return nil }
            (self.drawing, self.name) = (drawing, name)
        }
    }

    /// Hides rectangles and a shape.
    public init(rectangles: [CropRectangle] = [], shape: Shape? = nil, fill: Fill = .black) {
        (self.rectangles, self.shape, self.fill) = (rectangles, shape, fill)
    }

    /// The command-line options for this mask.
    package var options: String {
        let parts =
            rectangles.isEmpty ? nil : "--privacy " + rectangles.map(\.description).joined(separator: ",")
        return [parts, shape.map { "--privacy-mask \($0.name)" }].compactMap { $0 }.joined(separator: " ")
    }

    /// Throws if a part is beyond the picture, or if the shape has other proportions.
    public func refuse(for picture: PictureSize) throws(PictureRequestError) {
        for part in rectangles {
            guard part.x + part.size.width <= picture.width, part.y + part.size.height <= picture.height
            else {
                throw PictureRequestError(
                    "--privacy \(part): the camera's picture has only \(picture), and would not hide all of it; "
                        + "use a rectangle within the picture")
            }
        }
        guard let shape, !shape.drawing.size.hasProportions(of: picture) else { return }
        throw PictureRequestError(
            "--privacy-mask \(shape.name): a mask of \(shape.drawing.size) does not fit pictures of \(picture); "
                + "draw one with the proportions of the picture")
    }
}

extension PictureSize {
    /// Whether this size, scaled to a picture's width, has the picture's height, up to the rounding of the smaller
    /// one's height.
    fileprivate func hasProportions(of picture: PictureSize) -> Bool {
        2 * abs(width * picture.height - height * picture.width) <= max(width, picture.width)
    }
}

/// A picture in levels of gray, as a file of a mask has it.
public struct GrayPicture: Sendable, Hashable {
    public let size: PictureSize
    /// Row by row from the top, 0 for black to 255 for white; as many as the size has pixels.
    public let levels: [UInt8]

    /// Darker parts of a mask are left out, or hidden.
    package static let leastLight: UInt8 = 128

    /// - Returns: nil if there are not as many levels as the size has pixels.
    public init?(size: PictureSize, levels: [UInt8]) {
        guard levels.count == size.area else { return nil }
        (self.size, self.levels) = (size, levels)
    }
}

// MARK: - Areas

/// What a mask hides in pictures of one size, in whole chroma samples: a block of 2x2 pixels is hidden if any of it
/// is. Immutable: conversions on several threads may share an area.
final class HiddenArea: Sendable {
    let fill: PrivacyMask.Fill
    let size: PictureSize
    /// The hidden columns of each chroma row, from the left; those of row `n` are at `first[n]..<first[n + 1]`.
    private let spans: [Range<Int32>]
    private let first: [Int32]

    /// - Throws: if the mask does not fit pictures of that size.
    init(_ mask: PrivacyMask, in size: PictureSize) throws(PictureRequestError) {
        try mask.refuse(for: size)
        (fill, self.size) = (mask.fill, size)
        let columns = half(size.width)
        var (spans, first) = ([Range<Int32>](), [Int32(0)])
        var hidden = [Bool](repeating: false, count: columns)
        for row in 0..<half(size.height) {
            for column in 0..<columns { hidden[column] = false }
            for part in mask.rectangles where (part.y / 2..<half(part.y + part.size.height)).contains(row) {
                for column in part.x / 2..<half(part.x + part.size.width) { hidden[column] = true }
            }
            mask.shape?.drawing.markDark(row: row, of: size, in: &hidden)
            var column = 0
            while let start = hidden[column...].firstIndex(of: true) {
                let end = hidden[start...].firstIndex(of: false) ?? columns
                spans.append(Int32(start)..<Int32(end))
                column = end
            }
            first.append(Int32(spans.count))
        }
        (self.spans, self.first) = (spans, first)
    }

    /// Whether anything is hidden in these luma rows.
    func touches(_ rows: Range<Int>) -> Bool { first[rows.lowerBound / 2] < first[half(rows.upperBound)] }

    /// Calls `body` with the hidden columns of a chroma row, from the left.
    func forEachSpan(inChromaRow row: Int, _ body: (Range<Int>) -> Void) {
        for index in first[row]..<first[row + 1] {
            let span = spans[Int(index)]
            body(Int(span.lowerBound)..<Int(span.upperBound))
        }
    }

    /// The side of a mosaic's blocks in pixels, an even number.
    var block: Int { max(8, max(size.width, size.height) / 20) & ~1 }
}

extension GrayPicture {
    /// Marks the chroma samples of a row of a picture that touch something dark.
    fileprivate func markDark(row: Int, of picture: PictureSize, in hidden: inout [Bool]) {
        func pixels(_ sample: Int, of length: Int, own: Int) -> Range<Int> {
            // A pixel of the mask counts where it overlaps the sample at all.
            let start = 2 * sample * own / length
            let end = (min(2 * sample + 2, length) * own + length - 1) / length
            return start..<max(start + 1, end)
        }
        for y in pixels(row, of: picture.height, own: size.height) {
            for column in hidden.indices where !hidden[column] {
                hidden[column] = pixels(column, of: picture.width, own: size.width).contains {
                    levels[y * size.width + $0] < Self.leastLight
                }
            }
        }
    }
}

// MARK: - Painting

/// Hides an area in the bands of successive pictures, before anybody else reads them. Nothing is allocated per
/// picture. One thread at a time may use a painter.
final class PrivacyPainter {
    private let area: HiddenArea
    private let black: UInt8
    /// The first column of the bands in the picture, an even number.
    private let left: Int
    private let width: Int
    /// The blocks whose colors are known, and these colors: of the whole block as far as the first of its bands
    /// has it.
    private var blockRow = -1
    private let colors: UnsafeMutablePointer<SIMD4<UInt8>>

    /// - Parameters:
    ///   - range: of the bands' levels.
    ///   - left: the picture's column at which bands begin, an even number.
    ///   - width: of the bands.
    init(_ area: HiddenArea, range: ColorEncoding.Range, left: Int = 0, width: Int) {
        (self.area, self.left, self.width) = (area, left, width)
        black = UInt8(range.levels.black)
        let count = area.size.width / area.block + 1
        colors = .allocate(capacity: count)
        colors.initialize(repeating: .zero, count: count)
    }

    deinit { colors.deallocate() }

    typealias Planes = (luma: PictureSurface.Plane, cb: PictureSurface.Plane, cr: PictureSurface.Plane)

    /// Begins a picture.
    func begin() { blockRow = -1 }

    /// Whether anything is hidden in these rows of the picture.
    func touches(_ rows: Range<Int>) -> Bool { area.touches(rows) }

    /// Hides what is hidden in a band.
    /// - Parameters:
    ///   - rows: the band's rows in the picture, beginning at an even one.
    ///   - planes: begin with the first of these rows.
    func hide(_ rows: Range<Int>, in planes: Planes) {
        for chromaRow in rows.lowerBound / 2..<half(rows.upperBound) {
            if area.fill == .mosaic, 2 * chromaRow / area.block != blockRow {
                blockRow = 2 * chromaRow / area.block
                mix(
                    2 * chromaRow..<min((blockRow + 1) * area.block, rows.upperBound), rows.lowerBound, planes
                )
            }
            area.forEachSpan(inChromaRow: chromaRow) { span in
                let columns = span.clamped(to: left / 2..<left / 2 + half(width))
                guard !columns.isEmpty else { return }
                switch area.fill {
                case .black:
                    fill(columns, chromaRow, rows, planes, with: SIMD4(black, 128, 128, 0))
                case .mosaic:
                    let perBlock = area.block / 2
                    for block in columns.lowerBound / perBlock...(columns.upperBound - 1) / perBlock {
                        let part = columns.clamped(to: block * perBlock..<(block + 1) * perBlock)
                        fill(part, chromaRow, rows, planes, with: colors[block])
                    }
                }
            }
        }
    }

    /// - Parameters:
    ///   - columns: chroma columns of the picture.
    ///   - color: luma, Cb and Cr.
    private func fill(
        _ columns: Range<Int>, _ chromaRow: Int, _ rows: Range<Int>, _ planes: Planes,
        with color: SIMD4<UInt8>
    ) {
        let start = columns.lowerBound - left / 2
        let luma = 2 * start..<min(2 * (start + columns.count), width)
        for row in 2 * chromaRow..<min(2 * chromaRow + 2, rows.upperBound) {
            (planes.luma.row(row - rows.lowerBound) + luma.lowerBound)
                .update(repeating: color.x, count: luma.count)
        }
        let row = chromaRow - rows.lowerBound / 2
        (planes.cb.row(row) + start).update(repeating: color.y, count: columns.count)
        (planes.cr.row(row) + start).update(repeating: color.z, count: columns.count)
    }

    /// Finds the colors of a row of blocks: the means of every fourth column of every fourth of these rows.
    private func mix(_ rows: Range<Int>, _ first: Int, _ planes: Planes) {
        for block in left / area.block...(left + width - 1) / area.block {
            let columns = (block * area.block..<(block + 1) * area.block).clamped(to: left..<left + width)
            let start = columns.lowerBound - left
            let luma = Self.mean(
                planes.luma, rows.lowerBound - first..<rows.upperBound - first, start..<start + columns.count)
            let chromaRows = (rows.lowerBound - first) / 2..<half(rows.upperBound - first)
            let chroma = start / 2..<half(start + columns.count)
            colors[block] = SIMD4(
                luma, Self.mean(planes.cb, chromaRows, chroma), Self.mean(planes.cr, chromaRows, chroma), 0)
        }
    }

    private static func mean(_ plane: PictureSurface.Plane, _ rows: Range<Int>, _ columns: Range<Int>)
        -> UInt8
    {
        var (sum, count) = (0, 0)
        for row in stride(from: rows.lowerBound, to: rows.upperBound, by: 4) {
            let samples = plane.row(row)
            for column in stride(from: columns.lowerBound, to: columns.upperBound, by: 4) {
                sum += Int(samples[column])
                count += 1
            }
        }
        return UInt8(sum / max(1, count))
    }
}
