extension SoundCodec {
    /// How many frames a coded packet has; nil if only a decoder can tell.
    /// - Parameter configuration: what the container says to the decoder.
    public func frameCount(of packet: RawSpan, configuration: [UInt8]) -> Int? {
        switch self {
        case .aac: Self.aacFrameCount(configuration)
        case .opus: Self.opusFrameCount(packet)
        case .flac: Self.flacBlockSize(configuration)
        }
    }

    /// What AudioSpecificConfig says of the plain kinds of AAC (ISO/IEC 14496-3, 1.6.2.1 and 4.4.1): others have packets of
    /// twice the length, or of several.
    private static func aacFrameCount(_ configuration: [UInt8]) -> Int? {
        guard configuration.count >= 2 else { return nil }
        let bits = Int(configuration[0]) << 8 | Int(configuration[1])
        let (kind, rateIndex, isShort) = (bits >> 11, bits >> 7 & 15, bits >> 2 & 1 == 1)
        guard (1...4).contains(kind), rateIndex != 15 else { return nil }
        return isShort ? 960 : 1024
    }

    /// From the packet's first two bytes (RFC 6716, 3.1 and 3.2), at 48 kHz.
    private static func opusFrameCount(_ packet: RawSpan) -> Int? {
        guard packet.byteCount > 0 else { return nil }
        let first = packet.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        let size = Int(first >> 3 & 3)
        let length =
            switch first >> 3 {
            case 0..<12: [480, 960, 1920, 2880][size]
            case 12..<16: [480, 960][size & 1]
            default: 120 << size
            }
        switch first & 3 {
        case 0: return length
        case 1, 2: return 2 * length
        default:
            guard packet.byteCount > 1 else { return nil }
            return Int(packet.unsafeLoad(fromByteOffset: 1, as: UInt8.self) & 63) * length
        }
    }

    /// The size of all blocks but the last, if they have one size (RFC 9639, 8.2).
    private static func flacBlockSize(_ configuration: [UInt8]) -> Int? {
        guard configuration.count >= 4, configuration[..<2] == configuration[2..<4] else { return nil }
        return Int(configuration[0]) << 8 | Int(configuration[1])
    }
}
