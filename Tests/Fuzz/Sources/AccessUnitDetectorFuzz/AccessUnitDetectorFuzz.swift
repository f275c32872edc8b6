import Bitstream
import FuzzSupport

/// Places each NAL unit of a stream; the first byte chooses the codec.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let codec = Codec.allCases[input.choice(0...1)]
    let stream = input.rest
    var detector = AccessUnitDetector(codec: codec)
    var parser = AnnexBParser(maximumUnitByteCount: 1 << 20)
    var isFirst = true
    parser.parse(stream.span.bytes, isLast: true) { result, nalUnit in
        guard (try? result.get()) != nil else { return }
        let boundary = detector.next(nalUnit)
        promise(!isFirst || boundary == .begins, "the first unit begins an access unit")
        promise(!isFirst || !detector.isSecondField, "the first picture is no second field")
        isFirst = false
    }
    return 0
}
