import Bitstream
import FuzzSupport

/// Reads a record: writing gives the same bytes, and a record built from its parameter sets is read back unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = FuzzInput(start, count).rest
    guard let record = try? HEVCDecoderConfigurationRecord(bytes.span.bytes) else { return 0 }
    promise(record.bytes == bytes, "written is what was read")
    promise((0...4095).contains(record.min_spatial_segmentation_idc), "it has twelve bits")
    let made = try? HEVCDecoderConfigurationRecord(
        videoParameterSets: record.nalUnits(of: .videoParameterSet),
        sequenceParameterSets: record.nalUnits(of: .sequenceParameterSet),
        pictureParameterSets: record.nalUnits(of: .pictureParameterSet), lengthSize: record.lengthSize)
    if let made {
        promise(
            (try? HEVCDecoderConfigurationRecord(made.bytes.span.bytes)) == made, "made is what is read")
    }
    return 0
}
