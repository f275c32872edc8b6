import CamPictures
import CamPlatform

/// One picture as a file.
public struct Snapshot: Sendable {
    /// The file's content.
    public let bytes: [UInt8]
    /// When the picture was captured.
    public let time: WallTime
    /// Whether the coded samples are the camera's own.
    public let isCamerasOwn: Bool

    /// What to make of a picture.
    public struct Form: Sendable, Hashable {
        /// The file's format.
        public var format: Format
        /// The JPEG's quality, 1 to 100; nil for a camera's own JPEG if it has one, else `usualQuality`.
        public var quality: Int?
        /// Whether times in the file are UTC instead of local time.
        public var isUTC: Bool
        /// The program, for the metadata.
        public var program: String

        /// A form.
        public init(_ format: Format, quality: Int? = nil, isUTC: Bool = false, program: String) {
            (self.format, self.quality, self.isUTC, self.program) = (format, quality, isUTC, program)
        }
    }

    /// A file's format.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case jpeg, png

        /// The format that a file's name says: `.jpg`, `.jpeg` or `.png`; nil for any other.
        public init?(path: String) {
            let name = path.lowercased()
            if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") {
                self = .jpeg
            } else if name.hasSuffix(".png") {
                self = .png
            } else {
                return nil
            }
        }
    }

    /// The quality of JPEGs that are encoded here.
    public static let usualQuality = 90
}
