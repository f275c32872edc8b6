import CV4L2
import Glibc
import CamPictures

/// Negotiates a format, size and rate with a driver.
///
/// A camera grants the nearest that it has, so only the granted values count.
struct FormatNegotiation {
    let device: V4L2Device
    let isMultiPlanar: Bool

    /// The result of the negotiation.
    struct Result {
        let format: PictureFormat
        /// Whether the driver reports the rate; if not, the requested one is assumed.
        let isRateKnown: Bool
    }

    /// Sets format, size and rate.
    func settle(_ request: CaptureRequest) throws(CaptureError) -> Result {
        let signalRate = DigitalTimings.adopt(on: device)
        var format = v4l2_format()
        format.type = V4L2BufferType.capture(isMultiPlanar)
        let result = device.control(CV4L2_G_FMT, &format)
        guard result >= 0 else { throw device.failure("VIDIOC_G_FMT", result) }
        let choice = try choose(request, currentSize: Self.size(of: format, isMultiPlanar))
        try set(choice, in: &format)
        let rate = setRate(choice.rate, signal: signalRate)
        return Result(
            format: try granted(format, rate: rate ?? choice.rate, request: request), isRateKnown: rate != nil
        )
    }

    /// A pixel format, size and rate to ask for.
    struct Choice {
        let pixelFormat: PixelFormat
        let size: PictureSize
        let rate: FrameRate
    }

    /// Chooses the format nearest to the request: by size first, then by rate, then by cost.
    private func choose(_ request: CaptureRequest, currentSize: PictureSize?) throws(CaptureError) -> Choice {
        let offered = CameraFormats.all(of: device, isMultiPlanar: isMultiPlanar)
        let size = request.size ?? currentSize ?? .usual
        let rate = request.frameRate ?? .usual
        if let wanted = request.pixelFormat, !offered.isEmpty,
            !offered.contains(where: { $0.pixelFormat == wanted })
        {
            let names = offered.map(\.pixelFormat.description).joined(separator: ", ")
            throw device.error(.unsupported("the camera has no format \(wanted), only \(names)"))
        }
        let eligible = offered.filter { format in
            if let wanted = request.pixelFormat { return format.pixelFormat == wanted }
            return format.pixelFormat != .h264 && format.pixelFormat.isReadable
        }
        let candidates = eligible.map { Candidate($0, size: size, rate: rate, device: device) }
        guard let best = candidates.min(by: { $0.rank < $1.rank }) else {
            guard let pixelFormat = request.pixelFormat else {
                throw device.error(Self.refusal(offered.map(\.pixelFormat)))
            }
            return Choice(pixelFormat: pixelFormat, size: size, rate: rate)
        }
        return best.choice
    }

    /// The error if none of these formats can be used.
    private static func refusal(_ offered: [PixelFormat]) -> CaptureError.Kind {
        if offered.isEmpty { return .driverMisbehaved("it lists no pixel format") }
        let unreadable = offered.filter { $0 != .h264 }
        if unreadable.count == offered.count { return .unreadable(offered) }
        if unreadable.isEmpty { return .unsupported("the camera offers H.264 only; use --format h264") }
        let names = unreadable.map(\.description).joined(separator: ", ")
        return .unsupported(
            "the camera offers H.264, and \(names), which camrec cannot read; use --format h264")
    }

    /// The best offer of one pixel format for the request.
    private struct Candidate {
        let choice: Choice
        /// Smaller is better; compared element by element.
        let rank: (Int, Double, Int)

        init(_ format: CameraFormat, size: PictureSize, rate: FrameRate, device: V4L2Device) {
            let nearest = format.sizes.map { ($0.nearest(to: size), $0) }
                .min { $0.0.distance(to: size) < $1.0.distance(to: size) }
            let grantedSize = nearest?.0 ?? size
            var rates = nearest?.1.rates ?? CameraFormat.Rates()
            // A range of sizes lists the rates of the largest: smaller pictures may come faster.
            if let range = nearest?.1, range.smallest != range.largest {
                rates = CameraFormats.rates(of: device, format: format.pixelFormat, size: grantedSize)
            }
            let grantedRate = rates.nearest(to: rate) ?? rate
            choice = Choice(pixelFormat: format.pixelFormat, size: grantedSize, rate: grantedRate)
            // Rates within 2 % are the same: 29.97 for 30.
            let shortfall = max(0, 1 - grantedRate.framesPerSecond / rate.framesPerSecond)
            rank = (
                grantedSize.distance(to: size), shortfall < 0.02 ? 0 : shortfall,
                format.pixelFormat.conversionCost
            )
        }
    }

    /// Sets the format. If a driver delivers single fields, pictures with both are requested, interlaced or
    /// one after the other: separate fields have half the rows and twice the rate.
    private func set(_ choice: Choice, in format: inout v4l2_format) throws(CaptureError) {
        try set(choice, field: V4L2_FIELD_ANY, in: &format)
        if format.field(isMultiPlanar).isWoven { return }
        for field in [V4L2_FIELD_INTERLACED, V4L2_FIELD_SEQ_TB] {
            do throws(CaptureError) { try set(choice, field: field, in: &format) } catch { continue }
            let granted = format.field(isMultiPlanar)
            if field == V4L2_FIELD_INTERLACED ? granted.isWoven : granted.isWhole { return }
        }
        try set(choice, field: V4L2_FIELD_ANY, in: &format)
    }

    private func set(
        _ choice: Choice, field: v4l2_field, in format: inout v4l2_format
    ) throws(CaptureError) {
        if isMultiPlanar {
            format.fmt.pix_mp.width = UInt32(choice.size.width)
            format.fmt.pix_mp.height = UInt32(choice.size.height)
            format.fmt.pix_mp.pixelformat = choice.pixelFormat.rawValue
            format.fmt.pix_mp.field = field.rawValue
            _ = withUnsafeMutableBytes(of: &format.fmt.pix_mp.plane_fmt) {
                $0.initializeMemory(as: UInt8.self, repeating: 0)
            }
        } else {
            format.fmt.pix.width = UInt32(choice.size.width)
            format.fmt.pix.height = UInt32(choice.size.height)
            format.fmt.pix.pixelformat = choice.pixelFormat.rawValue
            format.fmt.pix.field = field.rawValue
            format.fmt.pix.bytesperline = 0
            format.fmt.pix.sizeimage = 0
        }
        let result = device.control(CV4L2_S_FMT, &format)
        guard result >= 0 else { throw device.failure("VIDIOC_S_FMT", result) }
    }

    /// The rate that the driver granted; nil if it does not say.
    /// - Parameter signal: the rate at an HDMI or SDI input, which applies if no rate can be set.
    private func setRate(_ rate: FrameRate, signal: FrameRate?) -> FrameRate? {
        var parameters = v4l2_streamparm()
        parameters.type = V4L2BufferType.capture(isMultiPlanar)
        guard device.control(CV4L2_G_PARM, &parameters) >= 0 else { return signal }
        guard parameters.parm.capture.capability & UInt32(V4L2_CAP_TIMEPERFRAME) != 0 else {
            return signal ?? CameraFormats.rate(of: parameters.parm.capture.timeperframe)
        }
        parameters.parm.capture.timeperframe.numerator = UInt32(rate.denominator)
        parameters.parm.capture.timeperframe.denominator = UInt32(rate.numerator)
        if device.control(CV4L2_S_PARM, &parameters) < 0 {
            _ = device.control(CV4L2_G_PARM, &parameters)
        }
        return CameraFormats.rate(of: parameters.parm.capture.timeperframe) ?? signal
    }

    private func granted(
        _ format: v4l2_format, rate: FrameRate, request: CaptureRequest
    ) throws(CaptureError) -> PictureFormat {
        let picture = GrantedPicture(format, isMultiPlanar: isMultiPlanar)
        let pixelFormat = picture.pixelFormat
        if let wanted = request.pixelFormat, wanted != pixelFormat {
            throw device.error(.unsupported("the camera delivers \(pixelFormat) instead of \(wanted)"))
        }
        guard let size = Self.size(of: format, isMultiPlanar) else {
            throw device.error(.driverMisbehaved("it granted a size outside 1 to \(PictureSize.maximumSide)"))
        }
        guard picture.memoryPlaneCount == pixelFormat.memoryPlaneCount else {
            throw device.error(
                .unsupported(
                    "its format \(pixelFormat) has \(picture.memoryPlaneCount) memory planes; try another --format"
                ))
        }
        guard let fields = picture.fields else {
            throw device.error(
                .unsupported(
                    "it delivers the fields of a picture separately; choose another --input or --size"))
        }
        let color = picture.color(height: size.height)
        guard
            let granted = PictureFormat(
                pixelFormat, size: size, frameRate: rate, color: color, pixelAspect: pixelAspect(of: size),
                isInterlaced: fields.isInterlaced,
                firstField: fields.first, strides: picture.strides)
        else {
            throw device.error(
                fields.first == nil
                    ? .driverMisbehaved("it granted rows shorter than \(size.width) pixels")
                    : .unsupported(
                        "its fields of \(pixelFormat) \(size) cannot be interleaved; choose another --format or --size"
                    ))
        }
        for (plane, length) in granted.minimumLengths.enumerated() where picture.lengths[plane] < length {
            throw device.error(
                .driverMisbehaved("it granted buffers of \(picture.lengths[plane]) bytes, not \(length)"))
        }
        return granted
    }

    /// The driver's pixel aspect ratio (VIDIOC_CROPCAP), adjusted for cropping and scaling since.
    private func pixelAspect(of size: PictureSize) -> PixelAspect? {
        var capability = v4l2_cropcap()
        capability.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        guard device.control(CV4L2_CROPCAP, &capability) >= 0 else { return nil }
        // Height to width.
        let sampled = capability.pixelaspect
        guard sampled.numerator != sampled.denominator else { return nil }
        let (width, height) = (Int(sampled.denominator), Int(sampled.numerator))
        guard let cropped = selection(V4L2_SEL_TGT_CROP) else { return PixelAspect(width, height) }
        let scaled = selection(V4L2_SEL_TGT_COMPOSE) ?? size
        return PixelAspect(width * cropped.width * scaled.height, height * cropped.height * scaled.width)
    }

    private func selection(_ target: Int32) -> PictureSize? {
        var selection = v4l2_selection()
        selection.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        selection.target = UInt32(target)
        guard device.control(CV4L2_G_SELECTION, &selection) >= 0 else { return nil }
        return PictureSize(Int(selection.r.width), Int(selection.r.height))
    }

    private static func size(of format: v4l2_format, _ isMultiPlanar: Bool) -> PictureSize? {
        isMultiPlanar
            ? PictureSize(Int(format.fmt.pix_mp.width), Int(format.fmt.pix_mp.height))
            : PictureSize(Int(format.fmt.pix.width), Int(format.fmt.pix.height))
    }
}

/// V4L2's single- and multi-planar picture formats, read in the same way.
private struct GrantedPicture {
    let pixelFormat: PixelFormat
    let memoryPlaneCount: Int
    let strides: [Int]
    let lengths: [Int]
    private let field: UInt32
    private let colorspace: UInt32
    private let ycbcrEncoding: UInt32
    private let quantization: UInt32
    private let transferFunction: UInt32

    init(_ format: v4l2_format, isMultiPlanar: Bool) {
        if isMultiPlanar {
            let picture = format.fmt.pix_mp
            pixelFormat = PixelFormat(rawValue: picture.pixelformat)
            memoryPlaneCount = Int(picture.num_planes)
            let planes = [picture.plane_fmt.0, picture.plane_fmt.1, picture.plane_fmt.2]
            strides = planes.map { Int($0.bytesperline) }
            lengths = planes.map { Int($0.sizeimage) }
            (field, colorspace) = (picture.field, picture.colorspace)
            ycbcrEncoding = UInt32(picture.ycbcr_enc)
            quantization = UInt32(picture.quantization)
            transferFunction = UInt32(picture.xfer_func)
        } else {
            let picture = format.fmt.pix
            pixelFormat = PixelFormat(rawValue: picture.pixelformat)
            memoryPlaneCount = 1
            strides = [Int(picture.bytesperline)]
            lengths = [Int(picture.sizeimage)]
            (field, colorspace) = (picture.field, picture.colorspace)
            // Older drivers leave the fields after `priv` undefined unless it holds the magic number.
            let isExtended = picture.priv == UInt32(V4L2_PIX_FMT_PRIV_MAGIC)
            ycbcrEncoding = isExtended ? picture.ycbcr_enc : 0
            quantization = isExtended ? picture.quantization : 0
            transferFunction = isExtended ? picture.xfer_func : 0
        }
    }

    /// The order of the fields; nil if each buffer has one of two fields.
    var fields: FieldOrder? { FieldOrder(field) }

    func color(height: Int) -> ColorEncoding {
        ColorEncoding(
            colorspace: colorspace, ycbcrEncoding: ycbcrEncoding, quantization: quantization,
            transferFunction: transferFunction, pixelFormat: pixelFormat, height: height)
    }
}

/// How the fields of a picture lie in a buffer (`enum v4l2_field`).
private enum FieldOrder {
    /// No fields, or one field delivered as the picture.
    case progressive
    case woven
    case sequential(PictureFormat.Field)

    /// Returns nil for fields that come in separate buffers.
    init?(_ field: UInt32) {
        switch field {
        case V4L2_FIELD_ANY.rawValue, V4L2_FIELD_NONE.rawValue, V4L2_FIELD_TOP.rawValue,
            V4L2_FIELD_BOTTOM.rawValue:
            self = .progressive
        case V4L2_FIELD_SEQ_TB.rawValue: self = .sequential(.top)
        case V4L2_FIELD_SEQ_BT.rawValue: self = .sequential(.bottom)
        case V4L2_FIELD_ALTERNATE.rawValue: return nil
        default: self = .woven
        }
    }

    var isInterlaced: Bool { if case .progressive = self { false } else { true } }

    var first: PictureFormat.Field? { if case .sequential(let first) = self { first } else { nil } }
}

extension v4l2_format {
    fileprivate func field(_ isMultiPlanar: Bool) -> v4l2_field {
        v4l2_field(rawValue: isMultiPlanar ? fmt.pix_mp.field : fmt.pix.field)
    }
}

extension v4l2_field {
    /// Whether a buffer has all rows, in the picture's order.
    fileprivate var isWoven: Bool {
        [
            V4L2_FIELD_ANY, V4L2_FIELD_NONE, V4L2_FIELD_INTERLACED, V4L2_FIELD_INTERLACED_TB,
            V4L2_FIELD_INTERLACED_BT,
        ].contains(self)
    }

    /// Whether a buffer has all rows, in any order.
    fileprivate var isWhole: Bool { isWoven || self == V4L2_FIELD_SEQ_TB || self == V4L2_FIELD_SEQ_BT }
}

extension PixelFormat {
    /// The cost of converting a format for an encoder, in quality and time; only the order counts.
    fileprivate var conversionCost: Int {
        switch arrangement {
        case .semiPlanar(2, 2, .cb): 0
        case .semiPlanar(2, 2, .cr), .planar(2, 2, _): 1
        case .packed422, .planar, .semiPlanar: 2
        case .rgb: 3
        case .jpeg: 4
        case .vendor: 5
        case .grey: 6
        case .h264: 7
        }
    }
}

extension PictureSize {
    fileprivate func distance(to other: PictureSize) -> Int {
        abs(width - other.width) + abs(height - other.height)
    }
}

extension CameraFormat.Size {
    fileprivate func nearest(to size: PictureSize) -> PictureSize {
        func nearest(_ wanted: Int, _ low: Int, _ high: Int, _ step: Int) -> Int {
            let clamped = min(max(wanted, low), high)
            return low + (clamped - low) / step * step
        }
        return PictureSize(
            nearest(size.width, smallest.width, largest.width, widthStep),
            nearest(size.height, smallest.height, largest.height, heightStep)) ?? smallest
    }
}

extension CameraFormat.Rates {
    /// The slowest rate that is fast enough, or else the fastest; nil if the driver names none.
    fileprivate func nearest(to rate: FrameRate) -> FrameRate? {
        guard let fastest = listed.first, let slowest = listed.last else { return nil }
        if isContinuous { return min(max(rate, slowest), fastest) }
        return listed.last { $0.framesPerSecond > rate.framesPerSecond * 0.98 } ?? fastest
    }
}
