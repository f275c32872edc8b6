/// Why a picture could not be stored as an image. `description` is one line: thing, cause, next step.
public enum ImageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not a JPEG, or damaged.
    case notJPEG
    /// libavcodec could not code it as PNG.
    case pngFailed(detail: String)
    case outOfMemory

    public var description: String {
        switch self {
        case .notJPEG: "the picture is not a JPEG; try another --format"
        case .pngFailed(let detail): "cannot write the picture as PNG: \(detail); write a .jpg"
        case .outOfMemory: "out of memory; close other programs, or use a smaller --size"
        }
    }
}
