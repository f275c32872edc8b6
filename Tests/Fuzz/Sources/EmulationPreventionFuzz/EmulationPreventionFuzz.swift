import Bitstream
import FuzzSupport

/// Escaped bytes contain no start code, and unescaping restores the original.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = FuzzInput(start, count).rest
    let escaped = EmulationPrevention.escape(bytes.span.bytes)
    var scanner = NALUnitScanner()
    promise(scanner.next(in: escaped.span.bytes) == nil, "escaped bytes have no start code")
    promise(escaped.last != 0, "escaped bytes do not end in a zero")
    let unescaped = EmulationPrevention.unescape(escaped.span.bytes)
    // A zero at the end is followed by a meaningless 03.
    promise(unescaped == bytes || bytes.last == 0 && unescaped == bytes + [3], "nothing is lost")
    _ = EmulationPrevention.unescape(bytes.span.bytes)
    return 0
}
