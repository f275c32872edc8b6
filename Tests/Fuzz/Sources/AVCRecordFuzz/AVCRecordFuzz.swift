import Bitstream
import FuzzSupport

/// Reads a record: writing gives the same bytes, and a record built from its parameter sets is read back unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = FuzzInput(start, count).rest
    guard let record = try? AVCDecoderConfigurationRecord(bytes.span.bytes) else { return 0 }
    promise(record.bytes == bytes, "written is what was read")
    if let high = record.highProfile {
        promise((0...3).contains(high.chroma_format), "a chroma format has two bits")
        promise((0...7).contains(high.bit_depth_luma_minus8), "a bit depth has three bits")
    }
    let made = try? AVCDecoderConfigurationRecord(
        sequenceParameterSets: record.sequenceParameterSets,
        pictureParameterSets: record.pictureParameterSets,
        sequenceParameterSetExtensions: record.highProfile?.sequenceParameterSetExtensions ?? [],
        lengthSize: record.lengthSize)
    if let made {
        promise(
            (try? AVCDecoderConfigurationRecord(made.bytes.span.bytes)) == made, "made is what is read")
    }
    return 0
}
