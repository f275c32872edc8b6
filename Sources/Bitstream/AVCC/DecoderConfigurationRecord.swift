/// The configuration that accompanies a stream of length-prefixed NAL units of either codec: the content of
/// an avcC or hvcC box.
public struct DecoderConfigurationRecord: Hashable, Sendable {
    /// The stream's coding standard.
    public let codec: Codec
    /// The number of bytes of each length in the stream.
    public let lengthSize: AVCC.LengthSize
    /// The parameter sets, and whatever else the record has, without start codes, in the record's order.
    public let nalUnits: [[UInt8]]

    /// Reads the record of a stream of this codec.
    public init(_ bytes: RawSpan, codec: Codec) throws(ConfigurationRecordError) {
        self.codec = codec
        switch codec {
        case .h264:
            let record = try AVCDecoderConfigurationRecord(bytes)
            lengthSize = record.lengthSize
            nalUnits =
                record.sequenceParameterSets + (record.highProfile?.sequenceParameterSetExtensions ?? [])
                + record.pictureParameterSets
        case .hevc:
            let record = try HEVCDecoderConfigurationRecord(bytes)
            lengthSize = record.lengthSize
            nalUnits = record.arrays.flatMap(\.nalUnits)
        }
    }

    /// Reads a record and detects its codec: both kinds begin alike, but only one of them can be read to its
    /// end and has that codec's parameter sets.
    public init?(_ bytes: RawSpan) {
        for codec in Codec.allCases {
            guard let record = try? DecoderConfigurationRecord(bytes, codec: codec), record.hasParameterSets
            else { continue }
            self = record
            return
        }
        return nil
    }

    /// The NAL units that a stream without them needs before its first picture.
    public var parameterSets: [[UInt8]] {
        nalUnits.filter { NALUnitHeader(of: $0.span.bytes, codec: codec)?.isParameterSet == true }
    }

    /// What to insert before a stream that begins with these bytes: the parameter sets with length prefixes,
    /// or nothing if the stream begins with its own.
    public func prefix(ofStreamBeginningWith head: RawSpan) -> [UInt8] {
        let hasOwn =
            head.byteCount > lengthSize.rawValue
            && NALUnitHeader(of: head.extracting(droppingFirst: lengthSize.rawValue), codec: codec)?
                .isParameterSet
                == true
        if hasOwn { return [] }
        var stream: [UInt8] = []
        let writer = AVCC.Writer(lengthSize: lengthSize)
        // A set that is too long for the length prefixes cannot be in such a stream.
        for set in parameterSets { try? writer.append(set.span.bytes, to: &stream) }
        return stream
    }

    private var hasParameterSets: Bool {
        var sets = ParameterSets(codec: codec)
        for unit in nalUnits where (try? sets.insert(unit.span.bytes)) == nil { return false }
        return sets.isComplete
    }
}
