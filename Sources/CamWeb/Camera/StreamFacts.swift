import Bitstream

/// The facts that a browser needs before it can decode a stream.
struct StreamFacts: Hashable, Sendable {
    let codec: CodecString
    /// Width in pixels, after cropping.
    let width: Int
    /// Height in pixels, after cropping.
    let height: Int

    /// Reads the sequence parameter set of a keyframe; nil if there is none or it is damaged.
    init?(_ keyframe: AccessUnit) {
        guard let nalUnit = keyframe.sequenceParameterSet else { return nil }
        var sets = StreamParameterSets(codec: keyframe.codec)
        guard (try? sets.insert(nalUnit.span.bytes)) == true, let format = sets.latestFormat,
            let codec = CodecString(sequenceParameterSet: nalUnit.span.bytes, codec: keyframe.codec)
        else { return nil }
        (self.codec, width, height) = (codec, format.width, format.height)
    }
}

// MARK: Codec strings

/// The codec parameter of a media type, by which browsers choose decoders: `avc1.64001F`, `hev1.1.6.L93.90`
/// (RFC 6381; ISO/IEC 14496-15, Annex E).
package struct CodecString: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Reads a sequence parameter set NAL unit without start code; nil if the unit is too short.
    package init?(sequenceParameterSet nalUnit: RawSpan, codec: Codec) {
        let bytes = EmulationPrevention.unescape(
            nalUnit.extracting(first: Self.mostBytes))
        switch codec {
        case .h264:
            // profile_idc, the constraint flags and level_idc follow the header (7.3.2.1.1).
            guard bytes.count >= 4 else { return nil }
            description = "avc1." + bytes[1...3].map(Self.hexByte).joined()
        case .hevc:
            // profile_tier_level() follows the header of two bytes and one byte of ids (7.3.2.2).
            guard bytes.count >= 15 else { return nil }
            description = "hev1." + Self.profileTierLevel(bytes[3..<15])
        }
    }

    /// The bytes to look at: more than profile, tier and level take with emulation prevention bytes.
    private static let mostBytes = 24

    /// - Parameter bytes: the 12 bytes of the general profile, tier and level (7.3.3).
    private static func profileTierLevel(_ bytes: ArraySlice<UInt8>) -> String {
        let bytes = Array(bytes)
        let space = ["", "A", "B", "C"][Int(bytes[0] >> 6)]
        let tier = bytes[0] & 0x20 == 0 ? "L" : "H"
        var compatibility: UInt32 = 0
        // Flag j is bit j here, but the (31 − j)th in the stream.
        for j in 0..<32 where bytes[1 + j / 8] >> UInt8(7 - j % 8) & 1 == 1 { compatibility |= 1 << j }
        var constraints = bytes[5..<11]
        while constraints.last == 0 { constraints.removeLast() }
        let parts =
            ["\(space)\(bytes[0] & 0x1F)", String(compatibility, radix: 16, uppercase: true)]
            + ["\(tier)\(bytes[11])"] + constraints.map { String($0, radix: 16, uppercase: true) }
        return parts.joined(separator: ".")
    }

    private static func hexByte(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0\(digits)" : digits
    }
}
