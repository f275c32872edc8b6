import Bitstream
import CFFmpeg
import CamPictures
import CamPlatform

/// One decoded picture: a reference to a buffer from the decoder's pool, returned when the picture is
/// destroyed.
///
/// `@unchecked Sendable`: the reference counts are atomic, and a delivered picture is never written to.
public struct DecodedPicture: ~Copyable, @unchecked Sendable {
    let frame: UnsafeMutablePointer<AVFrame>

    /// Position in the stream of its access unit, from 0.
    public var number: Int { Int(frame.pointee.pts) }
    /// When its access unit arrived, as passed to the assembler; nil if unknown.
    public var arrival: Instant? {
        // Set by the session that decoded the picture.
        frame.pointee.pkt_dts == CFFMPEG_NO_TIME ? nil : Instant(nanoseconds: frame.pointee.pkt_dts)
    }
    /// When the picture was captured, as it states in an SEI message (MISB ST 0604); nil if it does not.
    public var captureTime: WallTime? {
        let messages = UnsafeBufferPointer(
            start: frame.pointee.side_data, count: Int(frame.pointee.nb_side_data))
        // A camera's own message may precede the recorder's.
        return messages.lazy.reversed().compactMap { message in
            guard let data = message?.pointee, data.type == AV_FRAME_DATA_SEI_UNREGISTERED else { return nil }
            return CaptureTimeMessage.time(
                userData: UnsafeRawBufferPointer(start: data.data, count: Int(data.size)).bytes)
        }.first
    }
    /// Width in luma samples, after cropping.
    public var width: Int { Int(frame.pointee.width) }
    /// Height in luma samples, after cropping.
    public var height: Int { Int(frame.pointee.height) }
    /// The arrangement of the samples in memory; nil for a format that only a `PictureConverter` can read.
    public var layout: PictureLayout? { PictureLayout(AVPixelFormat(frame.pointee.format)) }
    /// FFmpeg's name of the format, such as `yuv422p10le`, if it has more than 8 bits per sample or more
    /// chroma than 4:2:0, which is lost in `yuv420p` and `nv12`. Nil for all other formats.
    public var finerForm: String? {
        let format = AVPixelFormat(frame.pointee.format)
        guard let description = av_pix_fmt_desc_get(format)?.pointee,
            description.flags & UInt64(AV_PIX_FMT_FLAG_HWACCEL) == 0
        else { return nil }
        let hasMoreChroma =
            description.nb_components > 1 && (description.log2_chroma_w < 1 || description.log2_chroma_h < 1)
        guard description.comp.0.depth > 8 || hasMoreChroma else { return nil }
        return String(cString: av_get_pix_fmt_name(format))
    }
    /// The meaning of the samples.
    public var color: ColorEncoding { ColorEncoding(frame.pointee) }

    /// Width and height of a sample for display; nil if the stream does not declare them, which means square.
    public var sampleAspectRatio: (width: Int, height: Int)? {
        let ratio = frame.pointee.sample_aspect_ratio
        return ratio.num > 0 && ratio.den > 0 ? (Int(ratio.num), Int(ratio.den)) : nil
    }

    /// Returns another reference to the picture.
    public func share() throws(DecoderError) -> DecodedPicture {
        guard let reference = av_frame_clone(frame) else { throw DecoderError(.outOfMemory) }
        return DecodedPicture(taking: reference)
    }

    /// Takes ownership of a frame.
    init(taking frame: UnsafeMutablePointer<AVFrame>) { self.frame = frame }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    /// Provides access to the rows of a plane, `stride` bytes apart; the layout tells how many bytes of each
    /// are samples. The last row ends with its samples.
    ///
    /// Precondition: the picture has a layout, with this plane.
    public func withPlane<Result: ~Copyable, Failure: Error>(
        _ index: Int, _ body: (UnsafeRawBufferPointer, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let layout else { preconditionFailure("a picture of this form has no planes to lend") }
        let size = layout.planeSize(index, width: width, height: height)
        let (start, stride) = (frame.plane(index), frame.stride(index))
        return try body(
            UnsafeRawBufferPointer(start: start, count: stride * (size.rowCount - 1) + size.rowByteCount),
            stride)
    }
}

extension UnsafeMutablePointer<AVFrame> {
    /// The beginning of the first row of a plane.
    func plane(_ index: Int) -> UnsafeMutablePointer<UInt8>? {
        withUnsafePointer(to: &pointee.data) {
            $0.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { $0[index] }
        }
    }

    /// Bytes from one row of a plane to the next.
    func stride(_ index: Int) -> Int {
        withUnsafePointer(to: &pointee.linesize) {
            $0.withMemoryRebound(to: Int32.self, capacity: 8) { Int($0[index]) }
        }
    }
}

// MARK: Layouts

/// The arrangement of the samples of a picture in memory, 8 bits each.
public enum PictureLayout: String, Sendable, CaseIterable {
    /// Three planes: luma, and both chroma at half the width and height, rounded up.
    case yuv420p
    /// Two planes: luma, and interleaved chroma at half the width and height, rounded up.
    case nv12
    /// One plane: blue, green, red and an opaque alpha.
    case bgra
    /// One plane: red, green and blue, 3 bytes a pixel.
    case rgb24

    /// The number of planes.
    public var planeCount: Int {
        switch self {
        case .yuv420p: 3
        case .nv12: 2
        case .bgra, .rgb24: 1
        }
    }

    /// Returns the number of rows of a plane, and of the bytes of samples in each.
    public func planeSize(_ plane: Int, width: Int, height: Int) -> (rowByteCount: Int, rowCount: Int) {
        let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
        return switch (self, plane) {
        case (.bgra, _): (width * 4, height)
        case (.rgb24, _): (width * 3, height)
        case (_, 0): (width, height)
        case (.yuv420p, _): (halfWidth, halfHeight)
        case (.nv12, _): (halfWidth * 2, halfHeight)
        }
    }
}

extension PictureLayout {
    /// Whether samples are red, green and blue.
    public var isRGB: Bool { self == .bgra || self == .rgb24 }

    /// The layout of a format of FFmpeg; nil for formats without a layout. The J formats are equal in memory,
    /// with samples of the full range.
    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: self = .yuv420p
        case AV_PIX_FMT_NV12: self = .nv12
        case AV_PIX_FMT_BGRA: self = .bgra
        case AV_PIX_FMT_RGB24: self = .rgb24
        default: return nil
        }
    }

    var format: AVPixelFormat {
        switch self {
        case .yuv420p: AV_PIX_FMT_YUV420P
        case .nv12: AV_PIX_FMT_NV12
        case .bgra: AV_PIX_FMT_BGRA
        case .rgb24: AV_PIX_FMT_RGB24
        }
    }
}

// MARK: Color

extension ColorEncoding {
    /// The color encoding of a picture. If the stream does not declare a matrix, BT.601 up to 576 lines and
    /// BT.709 above, as players assume.
    init(_ frame: AVFrame) {
        let isFull = frame.color_range == AVCOL_RANGE_JPEG || frame.format == AV_PIX_FMT_YUVJ420P.rawValue
        let matrix: Matrix =
            switch frame.colorspace {
            case AVCOL_SPC_BT709: .bt709
            case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: .bt2020
            case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: .bt601
            default: frame.height > 576 ? .bt709 : .bt601
            }
        self.init(
            range: isFull ? .full : .limited, matrix: matrix,
            primaries: UInt8(truncatingIfNeeded: frame.color_primaries.rawValue),
            transfer: UInt8(truncatingIfNeeded: frame.color_trc.rawValue))
    }
}
