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
