/// The parsed parameter sets in force at a point in a stream.
///
/// Each set inserted replaces the one with its id. There are at most 16 video, 32 sequence and 256 picture
/// parameter sets (64 in H.265), none longer than `ParameterSets.maximumByteCount`.
public struct StreamParameterSets: Equatable, Sendable {
    /// The standard that the stream follows.
    public let codec: Codec
    /// The sets of an H.264 stream.
    public private(set) var h264 = H264.ParameterSetsByID()
    /// The sets of an H.265 stream.
    public private(set) var hevc = H265.ParameterSetsByID()

    /// Creates an empty collection, for a stream of that standard.
    public init(codec: Codec) { self.codec = codec }

    /// Inserts a NAL unit, given without start code, if it is a parameter set of the base layer; ignores all
    /// others.
    ///
    /// - Returns: whether it was such a parameter set.
    /// - Throws: if it can't be read or is too large. The sets are unchanged then.
    @discardableResult
    public mutating func insert(_ nalUnit: RawSpan) throws(SyntaxError) -> Bool {
        guard let header = NALUnitHeader(of: nalUnit, codec: codec), header.isParameterSet else {
            return false
        }
        switch codec {
        case .h264: try h264.insert(nalUnit)
        case .hevc: try hevc.insert(nalUnit)
        }
        return true
    }
}

extension ParameterSets {
    /// Refuses a parameter set that is larger than `maximumByteCount`.
    static func checkSize(_ byteCount: Int) throws(SyntaxError) {
        guard byteCount <= maximumByteCount else {
            throw SyntaxError(
                element: "nal_unit", reason: .tooLarge(byteCount: byteCount, limit: maximumByteCount),
                bitOffset: 0)
        }
    }
}
