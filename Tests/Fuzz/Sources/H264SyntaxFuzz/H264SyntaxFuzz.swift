import FuzzSupport

/// Reads parameter sets, slice headers and messages of a stream.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    readSyntax(of: FuzzInput(start, count).rest, .h264)
    return 0
}
