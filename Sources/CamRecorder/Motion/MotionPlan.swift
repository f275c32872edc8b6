import Encoder
import CamPictures

/// How a recording watches for motion.
public struct MotionPlan: Sendable, Hashable {
    public let sensitivity: MotionSensitivity
    /// What to ignore; nil to watch everything.
    public let mask: MotionMask?
    /// The part of the camera's picture that is recorded; nil for all of it.
    public let crop: CropRectangle?

    /// Watches pictures with a sensitivity, but for what a mask ignores.
    public init(
        sensitivity: MotionSensitivity = .usual, mask: MotionMask? = nil, crop: CropRectangle? = nil
    ) {
        (self.sensitivity, self.mask, self.crop) = (sensitivity, mask, crop)
    }

    /// What thumbnails of a camera's pictures show.
    func part(of whole: PictureSize) -> WatchedPart {
        crop.map { WatchedPart($0.size, x: $0.x, y: $0.y, of: whole) } ?? WatchedPart(whole)
    }
}
