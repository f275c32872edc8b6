import CamPictures
import CamPlatform

/// From when to when something moved, and where it was largest.
public struct MotionEvent: Sendable, Hashable {
    /// A rectangle in the picture, in pixels.
    public struct Place: Sendable, Hashable {
        public let x: Int
        public let y: Int
        public let width: Int
        public let height: Int

        /// A rectangle whose top left corner is at x and y.
        public init(x: Int, y: Int, width: Int, height: Int) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    /// The capture time of the first picture in which it was seen.
    public internal(set) var start: Instant
    /// The capture time of the last picture in which it moved.
    public internal(set) var end: Instant
    /// The largest part of the picture that changed by it, 0 … 1.
    public internal(set) var peak: Double
    /// The capture time of that picture.
    public internal(set) var peakTime: Instant
    /// Where it was then.
    public internal(set) var place: Place

    /// An event.
    public init(start: Instant, end: Instant, peak: Double, peakTime: Instant, place: Place) {
        (self.start, self.end, self.peak, self.peakTime, self.place) = (start, end, peak, peakTime, place)
    }
}
