import Bitstream
import FuzzSupport

/// Detects what a stream is from its first bytes, with and without more to come.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let stream = FuzzInput(start, count).rest
    promise(
        StreamKind(head: stream.span.bytes, isWhole: true) != nil,
        "a whole stream is something, or nothing known")
    _ = StreamKind(head: stream.span.bytes, isWhole: false)
    return 0
}
