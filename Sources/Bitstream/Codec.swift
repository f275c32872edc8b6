/// A video coding standard.
public enum Codec: String, Hashable, Sendable, CaseIterable, Encodable {
    /// ITU-T H.264, MPEG-4 AVC.
    case h264
    /// ITU-T H.265, MPEG-H HEVC.
    case hevc
}

extension Codec: CustomStringConvertible {
    /// The standard's name: `H.264` or `H.265`.
    public var description: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "H.265"
        }
    }
}
