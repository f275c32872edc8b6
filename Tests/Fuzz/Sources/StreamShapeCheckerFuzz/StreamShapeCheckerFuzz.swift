import Bitstream
import FuzzSupport

/// Checks arbitrary bytes, split into access units whose sizes control bytes determine.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let codec = Codec.allCases[input.choice(0...1)]
    var checker = StreamShapeChecker(codec: codec)
    let half = input.choice(0...255)
    let stream = input.rest
    for part in [stream.prefix(half), stream.dropFirst(half)] {
        let bytes = Array(part)
        do {
            try checker.check(bytes.span.bytes)
        } catch {
            promise(!error.description.isEmpty, "a violation has words")
            return 0
        }
    }
    return 0
}
