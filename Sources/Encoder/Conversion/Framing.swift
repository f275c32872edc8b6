import CamPictures

/// What part of a camera's pictures is encoded, and how it lies: cut out, then turned, mirrored, and scaled.
public struct Framing: Sendable, Hashable {
    /// The part of the camera's picture; nil for all of it.
    public var crop: CropRectangle?
    /// Nil for none.
    public var rotation: Rotation?
    /// After the rotation; nil for none.
    public var flip: Flip?
    /// The size of the result; nil for what the others leave.
    public var scale: PictureSize?

    /// The whole picture as it is.
    public init() {}

    /// Whether it leaves pictures as they are.
    public var isPlain: Bool { self == Framing() }

    var orientation: Orientation { Orientation(rotation, flip) }

    /// A picture's size and the shape of its pixels.
    struct Picture: Hashable {
        let size: PictureSize
        let pixelAspect: PixelAspect?
    }

    /// Returns the size of the pictures that it makes of a camera's.
    ///
    /// Throws for a part that the picture does not have, and for sizes that 4:2:0 does not: with the nearest.
    public func size(of source: PictureSize) throws(EncoderError) -> PictureSize {
        try refuse(within: source)
        return scale ?? orientation.size(of: crop?.size ?? source)
    }

    /// Refuses sizes that no picture of the source can have.
    /// - Parameter source: nil if not known yet.
    public func refuse(within source: PictureSize?) throws(EncoderError) {
        if let scale, scale.width % 2 != 0 || scale.height % 2 != 0 {
            let nearest = "\(scale.width.evenAtLeast2)x\(scale.height.evenAtLeast2)"
            throw EncoderError(
                .contradiction("--scale \(scale): H.264 and H.265 have even sizes only; use \(nearest)"))
        }
        guard let crop, let nearest = crop.nearest(within: source), nearest != crop else {
            return try refuseTiny(source)
        }
        let cause =
            crop.nearest(within: nil) == crop
            ? "the picture has only \(source.map { "\($0)" } ?? "less")"
            : "chroma has half as many columns and rows"
        throw EncoderError(.contradiction("--crop \(crop): \(cause); use \(nearest)"))
    }

    private func refuseTiny(_ source: PictureSize?) throws(EncoderError) {
        guard let crop, let source, source.width < 2 || source.height < 2 else { return }
        throw EncoderError(.contradiction("--crop \(crop): the picture has only \(source); leave it out"))
    }

    /// Returns what it makes of a camera's pictures. A scaled picture's pixels have the shape that leaves its content
    /// undistorted.
    func picture(of source: PictureFormat) throws(EncoderError) -> Picture {
        let size = try size(of: source.size)
        let whole = orientation.size(of: crop?.size ?? source.size)
        let aspect = orientation.isTransposed ? source.pixelAspect?.turned : source.pixelAspect
        guard size != whole, !Self.isSimilar(size, to: whole) else {
            return Picture(size: size, pixelAspect: aspect)
        }
        let (width, height) = (aspect?.width ?? 1, aspect?.height ?? 1)
        let shape = PixelAspect(width * whole.width * size.height, height * whole.height * size.width)
        return Picture(size: size, pixelAspect: shape.flatMap { $0.canShow(size) ? $0 : nil })
    }

    /// Whether the sizes' proportions are the same but for the rounding to even sides.
    private static func isSimilar(_ size: PictureSize, to whole: PictureSize) -> Bool {
        let ideal = Double(size.height) * Double(whole.width) / Double(whole.height)
        return abs(ideal - Double(size.width)) < 2
    }
}

extension PixelAspect {
    /// Whether pictures of this size are at least a pixel wide and high with square pixels: players such as ffmpeg reject
    /// other shapes (`av_image_check_sar`).
    fileprivate func canShow(_ size: PictureSize) -> Bool {
        width < height ? size.width * width >= height : size.height * height >= width
    }

    /// That of the picture turned by a right angle.
    fileprivate var turned: PixelAspect? { PixelAspect(height, width) }
}

extension Framing: CustomStringConvertible {
    /// The options that ask for it.
    public var description: String {
        let options: [String?] = [
            crop.map { "--crop \($0)" }, rotation.map { "--rotate \($0.rawValue)" },
            flip.map { "--flip \($0.rawValue)" }, scale.map { "--scale \($0)" },
        ]
        return options.compactMap { $0 }.joined(separator: " ")
    }
}

/// A part of a camera's picture, as it comes from the camera.
public struct CropRectangle: Sendable, Hashable, CustomStringConvertible {
    /// Width and height.
    public let size: PictureSize
    /// Columns to the left of it, at least 0.
    public let x: Int
    /// Rows above it, at least 0.
    public let y: Int

    /// Nil for negative offsets, and ones that no picture has.
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

    /// The nearest within a picture whose chroma, which has half as many samples each way, can be cut out;
    /// nil if the picture is smaller than two columns or rows.
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
    /// The nearest even number that a picture's side may be, rounded down.
    var evenAtLeast2: Int { Swift.max(2, self & ~1) }
}

/// One of the eight ways to lay a picture down: columns and rows exchanged, then either or both reversed.
struct Orientation: Sendable, Hashable {
    /// Whether the source's columns become rows, from the left one down.
    private(set) var isTransposed = false
    /// Whether what is then left goes right.
    private(set) var reversesColumns = false
    /// Whether what is then on top goes to the bottom.
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

    /// Whether it leaves pictures as they are.
    var isUpright: Bool { self == Orientation() }

    /// The size of pictures that were of this one.
    func size(of source: PictureSize) -> PictureSize {
        // Both sides are in range, in either order.
        isTransposed ? PictureSize(source.height, source.width) ?? source : source
    }

    /// Where chroma of pictures is that had it at `source`.
    func siting(of source: ChromaSiting) -> ChromaSiting {
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
