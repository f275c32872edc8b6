/// What a picture is predicted from, by the most demanding of its slices.
public enum PictureKind: UInt8, Sendable, CaseIterable {
    /// From itself only.
    case intra
    /// From other pictures, one at a time.
    case predicted
    /// From other pictures, one or two at a time.
    case bidirectional
    /// None of its slices could be read.
    case unknown
}

extension PictureKind: CustomStringConvertible {
    /// `I`, `P`, `B` or `?`.
    public var description: String {
        switch self {
        case .intra: "I"
        case .predicted: "P"
        case .bidirectional: "B"
        case .unknown: "?"
        }
    }
}
