struct AccessUnitDetector: Sendable {
    enum Boundary { case begins, continues, undecided }
    let codec: Codec
    var isSecondField = false
    var seenSlice = true
    init(codec: Codec) { self.codec = codec }
    mutating func next(_ nalUnit: RawSpan) -> Boundary {
        guard let header = NALUnitHeader(of: nalUnit, codec: codec) else { return .continues }
        if header.isSlice {
            let first = (try? SliceStart(nalUnit, header))?.isFirst ?? false
            let begins = first && seenSlice
            seenSlice = true
            return begins ? .begins : .continues
        }
        if header.isParameterSet || header.isSupplementalEnhancementInformation, seenSlice {
            seenSlice = false
            return .begins
        }
        return .continues
    }
}
