/// What is kept of one access unit, in 16 bytes: a day of video is a few million of them.
public struct PictureRecord: Equatable, Sendable {
    /// Position in the stream of the access unit's first byte, start code included.
    public let offset: Int
    private let size: UInt32
    /// What it is predicted from.
    public let kind: PictureKind
    private let flags: Flags

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let idr = Flags(rawValue: 1)
        static let keyframe = Flags(rawValue: 2)
        static let secondField = Flags(rawValue: 4)
    }

    /// Creates a record; a size of more than 4 GiB is stored as 4 GiB.
    init(offset: Int, byteCount: Int, kind: PictureKind, isIDR: Bool, isKeyframe: Bool, isSecondField: Bool) {
        self.offset = offset
        size = UInt32(clamping: byteCount)
        self.kind = kind
        var flags: Flags = []
        if isIDR { flags.insert(.idr) }
        if isKeyframe { flags.insert(.keyframe) }
        if isSecondField { flags.insert(.secondField) }
        self.flags = flags
    }

    /// Number of bytes up to the next access unit, start codes and all units included.
    public var byteCount: Int { Int(size) }
    /// Whether it is an IDR picture.
    public var isIDR: Bool { flags.contains(.idr) }
    /// Whether decoding can begin here: an IDR, CRA or BLA picture, or an intra picture with a recovery point.
    public var isKeyframe: Bool { flags.contains(.keyframe) }
    /// Whether it is the second field of a frame; the previous access unit is then the first.
    public var isSecondField: Bool { flags.contains(.secondField) }
}
