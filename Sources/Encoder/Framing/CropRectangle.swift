import CamPictures

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
