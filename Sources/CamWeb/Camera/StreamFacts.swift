import Bitstream

/// What a browser must know about a stream before it can decode it.
struct StreamFacts: Hashable, Sendable {
    let codec: CodecString
    /// Width in pixels, after cropping.
    let width: Int
    /// Height in pixels, after cropping.
    let height: Int

    /// Reads them from a keyframe's sequence parameter set; nil if there is none that can be read.
    init?(_ keyframe: AccessUnit) {
        guard let nalUnit = keyframe.sequenceParameterSet else { return nil }
        var sets = StreamParameterSets(codec: keyframe.codec)
        guard (try? sets.insert(nalUnit.span.bytes)) == true, let format = sets.latestFormat,
            let codec = CodecString(sequenceParameterSet: nalUnit.span.bytes, codec: keyframe.codec)
        else { return nil }
        (self.codec, width, height) = (codec, format.width, format.height)
    }
}
