import CamPictures

/// The part of a camera's pictures that is encoded, and its orientation and size. Pictures are cropped, then
/// turned, mirrored, and scaled.
public struct Framing: Sendable, Hashable {
    /// The part of the camera's picture; nil for the whole picture.
    public var crop: CropRectangle?
    /// The turn of the cropped picture; nil for none.
    public var rotation: Rotation?
    /// The reflection after the rotation; nil for none.
    public var flip: Flip?
    /// The size of the result; nil to keep the size of the cropped and turned picture.
    public var scale: PictureSize?

    /// Leaves pictures unchanged.
    public init() {}

    /// Whether the orientation leaves pictures unchanged.
    public var isPlain: Bool { self == Framing() }

    package var orientation: Orientation { Orientation(rotation, flip) }

    /// A picture's size and the shape of its pixels.
    package struct Picture: Hashable {
        package let size: PictureSize
        package let pixelAspect: PixelAspect?
        /// Whether players show it in other proportions, because its pixels would have an impossible shape.
        package var isDistorted = false
    }

    /// Returns the size of the framed pictures.
    ///
    /// Throws if the part exceeds the picture, or if 4:2:0 does not allow a size; the error names the nearest
    /// possible value.
    public func size(of source: PictureSize) throws(PictureRequestError) -> PictureSize {
        try refuse(within: source)
        return scale ?? orientation.size(of: crop?.size ?? source)
    }

    /// Throws if no picture of the source can have the crop or the scale.
    /// - Parameter source: the size of the camera's pictures; nil if not known yet.
    public func refuse(within source: PictureSize?) throws(PictureRequestError) {
        if let scale, scale.width % 2 != 0 || scale.height % 2 != 0 {
            let nearest = "\(scale.width.evenAtLeast2)x\(scale.height.evenAtLeast2)"
            throw PictureRequestError(
                "--scale \(scale): H.264 and H.265 have even sizes only; use \(nearest)")
        }
        guard let crop, let nearest = crop.nearest(within: source), nearest != crop else {
            return try refuseTiny(source)
        }
        let cause =
            crop.nearest(within: nil) == crop
            ? "the picture has only \(source.map { "\($0)" } ?? "less")"
            : "chroma has half as many columns and rows"
        throw PictureRequestError("--crop \(crop): \(cause); use \(nearest)")
    }

    private func refuseTiny(_ source: PictureSize?) throws(PictureRequestError) {
        guard let crop, let source, source.width < 2 || source.height < 2 else { return }
        throw PictureRequestError("--crop \(crop): the picture has only \(source); leave it out")
    }

    /// Returns the size and pixel shape of the framed pictures. A scaled picture's pixel shape keeps its
    /// content undistorted.
    package func picture(of source: PictureFormat) throws(PictureRequestError) -> Picture {
        let size = try size(of: source.size)
        let whole = orientation.size(of: crop?.size ?? source.size)
        let aspect = orientation.isTransposed ? source.pixelAspect?.turned : source.pixelAspect
        guard size != whole, !Self.isSimilar(size, to: whole) else {
            return Picture(size: size, pixelAspect: aspect)
        }
        var (width, height) = (aspect?.width ?? 1, aspect?.height ?? 1)
        (width, height) = (width * whole.width * size.height, height * whole.height * size.width)
        let shape = PixelAspect(width, height).flatMap { $0.canShow(size) ? $0 : nil }
        return Picture(size: size, pixelAspect: shape, isDistorted: shape == nil && width != height)
    }

    /// Whether the sizes have the same proportions, apart from rounding to even sides.
    private static func isSimilar(_ size: PictureSize, to whole: PictureSize) -> Bool {
        let ideal = Double(size.height) * Double(whole.width) / Double(whole.height)
        return abs(ideal - Double(size.width)) < 2
    }
}

extension PixelAspect {
    /// Whether pictures of this size would be at least one pixel wide and high with square pixels: players
    /// such as ffmpeg reject other shapes (`av_image_check_sar`).
    fileprivate func canShow(_ size: PictureSize) -> Bool {
        width < height ? size.width * width >= height : size.height * height >= width
    }

    /// The pixel aspect of the picture turned by a right angle.
    fileprivate var turned: PixelAspect? { PixelAspect(height, width) }
}

extension Framing: CustomStringConvertible {
    /// The command-line options for this framing.
    public var description: String {
        let options: [String?] = [
            crop.map { "--crop \($0)" }, rotation.map { "--rotate \($0.rawValue)" },
            flip.map { "--flip \($0.rawValue)" }, scale.map { "--scale \($0)" },
        ]
        return options.compactMap { $0 }.joined(separator: " ")
    }
}

// MARK: - Cropping

/// A part of a camera's picture, in the camera's orientation.
public struct CropRectangle: Sendable, Hashable, CustomStringConvertible {
    /// Width and height.
    public let size: PictureSize
    /// The number of columns to the left of the part, at least 0.
    public let x: Int
    /// The number of rows above the part, at least 0.
    public let y: Int

    /// Nil for negative offsets, and for offsets beyond the largest picture.
    public init?(_ size: PictureSize, x: Int, y: Int) {
        guard (0..<PictureSize.maximumSide).contains(x), (0..<PictureSize.maximumSide).contains(y) else {
            return nil
        }
        (self.size, self.x, self.y) = (size, x, y)
    }

    /// Reads `640x480+320+240`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count == 3, let size = PictureSize(parts[0]), let x = Int(parts[1]),
            let y = Int(parts[2])
        else { return nil }
        self.init(size, x: x, y: y)
    }

    public var description: String { "\(size)+\(x)+\(y)" }

    /// The nearest rectangle within a picture that has whole chroma samples: even sides and offsets. Nil if
    /// the picture has fewer than two columns or rows.
    func nearest(within picture: PictureSize?) -> CropRectangle? {
        let limit =
            picture.map { ($0.width & ~1, $0.height & ~1) }
            ?? (PictureSize.maximumSide, PictureSize.maximumSide)
        guard limit.0 >= 2, limit.1 >= 2 else { return nil }
        let (width, height) = (min(size.width.evenAtLeast2, limit.0), min(size.height.evenAtLeast2, limit.1))
        return PictureSize(width, height).flatMap {
            CropRectangle($0, x: min(x & ~1, limit.0 - width), y: min(y & ~1, limit.1 - height))
        }
    }
}

extension Int {
    /// The number rounded down to a possible even side of a picture.
    var evenAtLeast2: Int { Swift.max(2, self & ~1) }
}

// MARK: - Orientation

/// One of the eight orientations of a picture: columns and rows transposed, then either or both reversed.
package struct Orientation: Sendable, Hashable {
    /// Whether the source's columns become rows, the leftmost column the top row.
    private(set) var isTransposed = false
    /// Whether left and right are exchanged after the transposition.
    private(set) var reversesColumns = false
    /// Whether top and bottom are exchanged after the transposition.
    private(set) var reversesRows = false

    /// Turns clockwise, then mirrors.
    init(_ rotation: Rotation? = nil, _ flip: Flip? = nil) {
        switch rotation {
        case nil: break
        case .right: (isTransposed, reversesColumns) = (true, true)
        case .upsideDown: (reversesColumns, reversesRows) = (true, true)
        case .left: (isTransposed, reversesRows) = (true, true)
        }
        switch flip {
        case nil: break
        case .horizontal: reversesColumns.toggle()
        case .vertical: reversesRows.toggle()
        }
    }

    /// Whether the orientation leaves pictures unchanged.
    var isUpright: Bool { self == Orientation() }

    /// The size of a picture of size `source` after the change of orientation.
    func size(of source: PictureSize) -> PictureSize {
        // The valid range is the same for both sides.
        isTransposed ? PictureSize(source.height, source.width) ?? source : source
    }

    /// The chroma siting after the change of orientation.
    package func siting(of source: ChromaSiting) -> ChromaSiting {
        var (x, y) = source.offset
        if isTransposed { (x, y) = (y, x) }
        if reversesColumns { x = 2 - x }
        if reversesRows { y = 2 - y }
        return ChromaSiting(x: x, y: y)
    }
}

/// A turn of the picture, clockwise, in degrees.
public enum Rotation: Int, Sendable, Hashable, CaseIterable {
    case right = 90
    case upsideDown = 180
    case left = 270
}

/// A reflection of the picture.
public enum Flip: String, Sendable, Hashable, CaseIterable {
    /// Left and right are exchanged.
    case horizontal = "h"
    /// Top and bottom are exchanged.
    case vertical = "v"
}

// MARK: - Requests that pictures contradict

/// Why a request about a picture's framing or text cannot be carried out. `description` is one line: the request, the
/// cause, the next step.
public struct PictureRequestError: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
