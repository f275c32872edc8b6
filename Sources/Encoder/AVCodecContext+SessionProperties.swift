import CFFmpeg
import CamPictures

extension UnsafeMutablePointer<AVCodecContext> {
    /// Sets the fields that mean the same to every libavcodec encoder.
    func configure(_ properties: SessionProperties, _ rates: SessionRates) {
        pointee.width = Int32(properties.size.width)
        pointee.height = Int32(properties.size.height)
        let (numerator, denominator) = (
            Int32(properties.frameRate.numerator), Int32(properties.frameRate.denominator)
        )
        pointee.framerate = AVRational(num: numerator, den: denominator)
        pointee.time_base = AVRational(num: denominator, den: numerator)
        pointee.gop_size = Int32(clamping: properties.framesInGroup)
        pointee.max_b_frames = Int32(properties.bFrames)
        pointee.slices = Int32(properties.slices)
        pointee.color_range = properties.color.range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        pointee.colorspace = AVColorSpace(UInt32(properties.color.matrix.rawValue))
        pointee.color_primaries = AVColorPrimaries(UInt32(properties.color.primaries))
        pointee.color_trc = AVColorTransferCharacteristic(UInt32(properties.color.transfer))
        // libavcodec counts from 1; 0 is unspecified.
        pointee.chroma_sample_location = AVChromaLocation(UInt32(properties.chromaSiting.rawValue) + 1)
        if let aspect = properties.pixelAspect {
            pointee.sample_aspect_ratio = AVRational(num: Int32(aspect.width), den: Int32(aspect.height))
        }
        if let opening = rates.opening {
            pointee.bit_rate = Int64((Double(properties.rateControl.averageForEncoder) * opening.scale))
            pointee.rc_max_rate = Int64(opening.rate)
            pointee.rc_buffer_size = Int32(clamping: Int(opening.size))
            pointee.rc_initial_buffer_occupancy = Int32(clamping: Int(opening.room))
        }
    }
}
