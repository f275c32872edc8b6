import CamPictures

/// The part of a camera's pictures that is watched.
public struct WatchedPart: Sendable, Hashable {
    /// The part's.
    public let size: PictureSize
    /// Columns to the left of it.
    public let x: Int
    /// Rows above it.
    public let y: Int
    /// The camera's.
    public let whole: PictureSize

    /// All of it.
    public init(_ whole: PictureSize) { self.init(whole, x: 0, y: 0, of: whole) }

    /// A part that lies within the whole.
    public init(_ size: PictureSize, x: Int, y: Int, of whole: PictureSize) {
        (self.size, self.x, self.y, self.whole) = (size, x, y, whole)
    }
}
