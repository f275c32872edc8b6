import CV4L2
import CYUV
import CamPictures
import Glibc

/// One pixel format of a camera, with its sizes.
public struct CameraFormat: Sendable, Hashable {
    /// The FourCC.
    public let pixelFormat: PixelFormat
    /// The driver's name for it.
    public let name: String
    /// The sizes in the driver's order; empty if it names none.
    public let sizes: [Size]

    /// A size, or a range of sizes, with the rates that the camera claims.
    public struct Size: Sendable, Hashable {
        /// The lower end of the range.
        public let smallest: PictureSize
        /// The same as `smallest` for a single size.
        public let largest: PictureSize
        /// Pixels from one width to the next within the range.
        public let widthStep: Int
        /// Pixels from one height to the next within the range.
        public let heightStep: Int
        /// The rates at this size, or at the largest size of a range.
        public let rates: Rates
    }

    /// The frame rates that a camera claims, in frames per second.
    public struct Rates: Sendable, Hashable {
        /// The rates in falling order; empty if the driver names none.
        public var listed: [FrameRate] = []
        /// Whether any rate between the first and the last is possible, not only those listed.
        public var isContinuous = false
    }
}

/// Reads the formats, sizes and rates that a camera offers.
///
/// Lists are read up to a bound, in case a driver's list never ends.
enum CameraFormats {
    private static let mostFormats: UInt32 = 128
    private static let mostSizes: UInt32 = 64
    private static let mostRates: UInt32 = 32

    static func all(of device: V4L2Device, isMultiPlanar: Bool) -> [CameraFormat] {
        descriptions(of: device, isMultiPlanar: isMultiPlanar).map { description in
            let format = PixelFormat(rawValue: description.pixelformat)
            let name = withUnsafeBytes(of: description.description) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            return CameraFormat(pixelFormat: format, name: name, sizes: sizes(of: device, format: format))
        }
    }

    static func pixelFormats(of device: V4L2Device, isMultiPlanar: Bool) -> [PixelFormat] {
        descriptions(of: device, isMultiPlanar: isMultiPlanar).map { PixelFormat(rawValue: $0.pixelformat) }
    }

    /// Formats that libv4l would only emulate are not formats of the camera.
    private static func descriptions(of device: V4L2Device, isMultiPlanar: Bool) -> [v4l2_fmtdesc] {
        var found: [v4l2_fmtdesc] = []
        for index in 0..<mostFormats {
            var description = v4l2_fmtdesc()
            description.index = index
            description.type = V4L2BufferType.capture(isMultiPlanar)
            guard device.control(CV4L2_ENUM_FMT, &description) >= 0 else { break }
            if description.flags & UInt32(V4L2_FMT_FLAG_EMULATED) == 0 { found.append(description) }
        }
        return found
    }

    static func sizes(of device: V4L2Device, format: PixelFormat) -> [CameraFormat.Size] {
        var sizes: [CameraFormat.Size] = []
        for index in 0..<mostSizes {
            var entry = v4l2_frmsizeenum()
            entry.index = index
            entry.pixel_format = format.rawValue
            guard device.control(CV4L2_ENUM_FRAMESIZES, &entry) >= 0 else { break }
            let isDiscrete = entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue
            let smallest =
                isDiscrete
                ? PictureSize(Int(entry.discrete.width), Int(entry.discrete.height))
                : PictureSize(max(1, Int(entry.stepwise.min_width)), max(1, Int(entry.stepwise.min_height)))
            let largest =
                isDiscrete
                ? smallest
                : PictureSize(
                    min(PictureSize.maximumSide, Int(entry.stepwise.max_width)),
                    min(PictureSize.maximumSide, Int(entry.stepwise.max_height)))
            guard let smallest, let largest else { continue }
            sizes.append(
                CameraFormat.Size(
                    smallest: smallest, largest: largest,
                    widthStep: isDiscrete ? 1 : max(1, Int(entry.stepwise.step_width)),
                    heightStep: isDiscrete ? 1 : max(1, Int(entry.stepwise.step_height)),
                    rates: rates(of: device, format: format, size: largest)))
            if !isDiscrete { break }
        }
        return sizes
    }

    static func rates(
        of device: V4L2Device, format: PixelFormat, size: PictureSize
    ) -> CameraFormat.Rates {
        var rates: [FrameRate] = []
        for index in 0..<mostRates {
            var entry = v4l2_frmivalenum()
            entry.index = index
            entry.pixel_format = format.rawValue
            entry.width = UInt32(size.width)
            entry.height = UInt32(size.height)
            guard device.control(CV4L2_ENUM_FRAMEINTERVALS, &entry) >= 0 else { break }
            if entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue {
                if let rate = rate(of: entry.discrete) { rates.append(rate) }
            } else {
                let bounds = [entry.stepwise.min, entry.stepwise.max].compactMap(rate)
                return CameraFormat.Rates(listed: bounds.sorted(by: >), isContinuous: true)
            }
        }
        return CameraFormat.Rates(listed: rates.sorted(by: >))
    }

    /// The inverse of a frame interval. Drivers do return 0/0.
    static func rate(of interval: v4l2_fract) -> FrameRate? {
        FrameRate(Int(interval.denominator), Int(interval.numerator))
    }
}

/// The two buffer types of cameras.
enum V4L2BufferType {
    static func capture(_ isMultiPlanar: Bool) -> UInt32 {
        isMultiPlanar
            ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    }
}

// MARK: Formats of libv4lconvert

/// Formats that only libv4lconvert may know.
enum VendorFormat {
    /// Whether libv4lconvert can convert this format. The library has no list of formats, so it is given an
    /// empty picture: it rejects that with a different error than an unknown format.
    static func isReadable(_ format: PixelFormat) -> Bool {
        guard let converter = cyuv_vendor_create() else { return false }
        defer { cyuv_vendor_destroy(converter) }
        let (width, height) = (64, 64)
        var input = [UInt8](repeating: 0, count: 4 * width * height + 65536)
        var picture = [UInt8](repeating: 0, count: width * height * 3 / 2)
        return cyuv_vendor_convert(
            converter, format.rawValue, Int32(width), Int32(height), &input, 0, &picture) != -EINVAL
    }
}

extension PixelFormat {
    /// Whether camrec, or a library it uses, can convert it.
    public var isReadable: Bool { arrangement != .vendor || VendorFormat.isReadable(self) }
}
