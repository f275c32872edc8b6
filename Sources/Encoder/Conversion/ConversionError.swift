import CamPictures

/// Why a picture could not be converted. `description` is one line.
public enum ConversionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Neither camrec nor libv4lconvert reads this format; the text says why.
    case unsupported(PixelFormat, String)
    /// The frame's data is damaged or cut short. The surface holds part of a picture at most.
    case corrupt(String)
    /// The frame is not of the size or format that the driver granted.
    case mismatched(String)
    case outOfMemory

    /// Whether the next frame may well be good: skip this one and count it.
    public var concernsOneFrame: Bool {
        switch self {
        case .corrupt, .mismatched: true
        case .unsupported, .outOfMemory: false
        }
    }

    public var description: String {
        switch self {
        case .unsupported(let format, let reason):
            "pixel format \(format) cannot be converted: \(reason); choose another --format"
        case .corrupt(let reason):
            "corrupt frame: \(reason); check the camera's cable if there are many"
        case .mismatched(let detail):
            "frame differs from the granted format: \(detail); try another --size or --format"
        case .outOfMemory:
            "not enough memory to convert pictures; use a smaller --size"
        }
    }
}
