import CV4L2

/// The arrangement of a picture in memory, by its V4L2 FourCC (`<linux/videodev2.h>`), which camrec may not
/// know.
public struct PixelFormat: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The FourCC, its first character in the lowest byte.
    public let rawValue: UInt32

    /// Any FourCC.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Reads a FourCC (`YUYV`, case-sensitive as V4L2's are) or a common name (`nv12`, `yuyv422`, `mjpeg`).
    public init?(_ text: String) {
        if let alias = Self.aliases[text.lowercased()] {
            self = alias
        } else if (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            let padded = Array(text.utf8) + Array(repeating: 0x20, count: 4 - text.utf8.count)
            rawValue = padded.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        } else {
            return nil
        }
    }

    /// Y, then Cb and Cr in turn, 4:2:0.
    public static let nv12 = PixelFormat(CV4L2_FORMAT_NV12)
    /// Y, then Cr and Cb in turn, 4:2:0.
    public static let nv21 = PixelFormat(CV4L2_FORMAT_NV21)
    /// NV12 in two memory planes.
    public static let nv12MultiPlanar = PixelFormat(CV4L2_FORMAT_NV12M)
    /// NV21 in two memory planes.
    public static let nv21MultiPlanar = PixelFormat(CV4L2_FORMAT_NV21M)
    /// Y, then Cb and Cr in turn, 4:2:2.
    public static let nv16 = PixelFormat(CV4L2_FORMAT_NV16)
    /// Y, then Cr and Cb in turn, 4:2:2.
    public static let nv61 = PixelFormat(CV4L2_FORMAT_NV61)
    /// NV16 in two memory planes.
    public static let nv16MultiPlanar = PixelFormat(CV4L2_FORMAT_NV16M)
    /// NV61 in two memory planes.
    public static let nv61MultiPlanar = PixelFormat(CV4L2_FORMAT_NV61M)
    /// Y, then Cb and Cr in turn, 4:4:4.
    public static let nv24 = PixelFormat(CV4L2_FORMAT_NV24)
    /// Y, then Cr and Cb in turn, 4:4:4.
    public static let nv42 = PixelFormat(CV4L2_FORMAT_NV42)
    /// Y, Cb, Cr, 4:2:0; also called I420.
    public static let yuv420 = PixelFormat(CV4L2_FORMAT_YUV420)
    /// Y, Cr, Cb, 4:2:0; also called YV12.
    public static let yvu420 = PixelFormat(CV4L2_FORMAT_YVU420)
    /// I420 in three memory planes.
    public static let yuv420MultiPlanar = PixelFormat(CV4L2_FORMAT_YUV420M)
    /// YV12 in three memory planes.
    public static let yvu420MultiPlanar = PixelFormat(CV4L2_FORMAT_YVU420M)
    /// Y, Cb, Cr, 4:2:2.
    public static let yuv422Planar = PixelFormat(CV4L2_FORMAT_YUV422P)
    /// Planar 4:4:4 in one memory plane, as in YUV4MPEG2 files. V4L2 has no FourCC for it.
    public static let yuv444Planar = PixelFormat(rawValue: 0x5034_3434)
    /// Bytes Y, Cb, Y, Cr: two pixels of 4:2:2.
    public static let yuyv = PixelFormat(CV4L2_FORMAT_YUYV)
    /// Bytes Cb, Y, Cr, Y.
    public static let uyvy = PixelFormat(CV4L2_FORMAT_UYVY)
    /// Bytes Y, Cr, Y, Cb.
    public static let yvyu = PixelFormat(CV4L2_FORMAT_YVYU)
    /// Bytes R, G, B.
    public static let rgb24 = PixelFormat(CV4L2_FORMAT_RGB24)
    /// Bytes B, G, R.
    public static let bgr24 = PixelFormat(CV4L2_FORMAT_BGR24)
    /// Bytes B, G, R, unused.
    public static let bgrx32 = PixelFormat(CV4L2_FORMAT_XBGR32)
    /// Bytes unused, R, G, B.
    public static let xrgb32 = PixelFormat(CV4L2_FORMAT_XRGB32)
    /// Luma alone.
    public static let grey = PixelFormat(CV4L2_FORMAT_GREY)
    /// Motion JPEG.
    public static let mjpeg = PixelFormat(CV4L2_FORMAT_MJPEG)
    /// JPEG.
    public static let jpeg = PixelFormat(CV4L2_FORMAT_JPEG)
    /// H.264 with start codes, coded by the camera.
    public static let h264 = PixelFormat(CV4L2_FORMAT_H264)

    /// The meaning of the bytes, for the formats that camrec converts without a library.
    public enum Arrangement: Sendable, Hashable {
        /// Y, then interleaved chroma, subsampled by the given factors.
        case semiPlanar(horizontal: Int, vertical: Int, firstChroma: Chroma)
        /// Y, then two chroma planes, each subsampled by the given factors.
        case planar(horizontal: Int, vertical: Int, firstChroma: Chroma)
        /// Two pixels in four bytes.
        case packed422(Packed422)
        /// Three or four bytes a pixel, with the offsets of red, green and blue.
        case rgb(bytesPerPixel: Int, red: Int, green: Int, blue: Int)
        /// Luma alone.
        case grey
        /// A JPEG picture in each buffer.
        case jpeg
        /// An H.264 access unit in each buffer.
        case h264
        /// Any other format, which libv4lconvert converts.
        case vendor
    }

    /// The first chroma sample.
    public enum Chroma: Sendable, Hashable { case cb, cr }

    /// The order of the four bytes.
    public enum Packed422: Sendable, Hashable { case yuyv, uyvy, yvyu }

    /// The arrangement for the FourCC.
    public var arrangement: Arrangement {
        switch self {
        case .nv12, .nv12MultiPlanar: .semiPlanar(horizontal: 2, vertical: 2, firstChroma: .cb)
        case .nv21, .nv21MultiPlanar: .semiPlanar(horizontal: 2, vertical: 2, firstChroma: .cr)
        case .nv16, .nv16MultiPlanar: .semiPlanar(horizontal: 2, vertical: 1, firstChroma: .cb)
        case .nv61, .nv61MultiPlanar: .semiPlanar(horizontal: 2, vertical: 1, firstChroma: .cr)
        case .nv24: .semiPlanar(horizontal: 1, vertical: 1, firstChroma: .cb)
        case .nv42: .semiPlanar(horizontal: 1, vertical: 1, firstChroma: .cr)
        case .yuv420, .yuv420MultiPlanar: .planar(horizontal: 2, vertical: 2, firstChroma: .cb)
        case .yvu420, .yvu420MultiPlanar: .planar(horizontal: 2, vertical: 2, firstChroma: .cr)
        case .yuv422Planar: .planar(horizontal: 2, vertical: 1, firstChroma: .cb)
        case .yuv444Planar: .planar(horizontal: 1, vertical: 1, firstChroma: .cb)
        case .yuyv: .packed422(.yuyv)
        case .uyvy: .packed422(.uyvy)
        case .yvyu: .packed422(.yvyu)
        case .rgb24: .rgb(bytesPerPixel: 3, red: 0, green: 1, blue: 2)
        case .bgr24: .rgb(bytesPerPixel: 3, red: 2, green: 1, blue: 0)
        case .grey: .grey
        case .mjpeg, .jpeg: .jpeg
        case .h264: .h264
        default: Self.rgb32Arrangement(of: rawValue) ?? .vendor
        }
    }

    /// The order of red, green and blue in four bytes, as the kernel documents it for each FourCC.
    private static func rgb32Arrangement(of fourCC: UInt32) -> Arrangement? {
        switch Int(fourCC) {
        case Int(CV4L2_FORMAT_BGR32), Int(CV4L2_FORMAT_XBGR32), Int(CV4L2_FORMAT_ABGR32):
            .rgb(bytesPerPixel: 4, red: 2, green: 1, blue: 0)
        case Int(CV4L2_FORMAT_RGB32), Int(CV4L2_FORMAT_XRGB32), Int(CV4L2_FORMAT_ARGB32):
            .rgb(bytesPerPixel: 4, red: 1, green: 2, blue: 3)
        case Int(CV4L2_FORMAT_RGBX32), Int(CV4L2_FORMAT_RGBA32):
            .rgb(bytesPerPixel: 4, red: 0, green: 1, blue: 2)
        case Int(CV4L2_FORMAT_BGRX32), Int(CV4L2_FORMAT_BGRA32):
            .rgb(bytesPerPixel: 4, red: 3, green: 2, blue: 1)
        default: nil
        }
    }

    /// The number of memory planes of the format (V4L2's `num_planes`).
    public var memoryPlaneCount: Int {
        switch self {
        case .nv12MultiPlanar, .nv21MultiPlanar, .nv16MultiPlanar, .nv61MultiPlanar: 2
        case .yuv420MultiPlanar, .yvu420MultiPlanar: 3
        default: 1
        }
    }

    /// The FourCC's four characters, trailing spaces removed.
    public var description: String {
        var text = ""
        for shift in stride(from: UInt32(0), through: 24, by: 8) {
            let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
            text.unicodeScalars.append((0x20...0x7e).contains(byte) ? Unicode.Scalar(byte) : "?")
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    private init(_ fourCC: some BinaryInteger) { rawValue = UInt32(truncatingIfNeeded: fourCC) }

    private static let aliases: [String: PixelFormat] = [
        "nv12": .nv12, "nv21": .nv21, "nv16": .nv16, "nv61": .nv61, "nv24": .nv24, "nv42": .nv42,
        "yu12": .yuv420, "i420": .yuv420, "yuv420p": .yuv420, "yv12": .yvu420,
        "yuv422p": .yuv422Planar, "yuv444p": .yuv444Planar,
        "yuyv": .yuyv, "yuyv422": .yuyv, "yuy2": .yuyv, "uyvy": .uyvy, "uyvy422": .uyvy, "yvyu": .yvyu,
        "yvyu422": .yvyu, "rgb24": .rgb24, "rgb3": .rgb24, "bgr24": .bgr24, "bgr3": .bgr24,
        "bgr0": .bgrx32, "bgrx": .bgrx32, "0rgb": .xrgb32, "xrgb": .xrgb32,
        "grey": .grey, "gray": .grey, "mjpeg": .mjpeg, "mjpg": .mjpeg, "jpeg": .jpeg, "h264": .h264,
    ]
}
