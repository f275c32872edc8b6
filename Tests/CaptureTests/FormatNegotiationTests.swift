import CV4L2
import CamPictures
import TestSupport
import Testing

@testable import Capture

/// The result of a negotiation, and what a driver must not grant.
@Suite struct FormatNegotiationTests {
    typealias Format = ScriptedDevice.Format

    private func granted(
        _ formats: [Format], _ request: CaptureRequest = CaptureRequest()
    ) throws -> (PixelFormat, PictureSize, FrameRate) {
        let device = ScriptedDevice()
        device.formats = formats
        device.grant = { format in
            let size = format.fmt.pix
            format.fmt.pix.bytesperline = 0
            format.fmt.pix.sizeimage = size.width * size.height * 4
        }
        device.bufferLengths = [1 << 24]
        let stream = try device.stream(request)
        return (stream.format.pixelFormat, stream.format.size, stream.format.frameRate)
    }

    // MARK: Choice

    @Test("size comes first: chooses a costlier format that has the size")
    func sizeFirst() throws {
        let (format, size, _) = try granted(
            [
                Format(pixelFormat: .nv12, sizes: [(640, 480)]),
                Format(pixelFormat: .mjpeg, sizes: [(640, 480), (1920, 1080)]),
            ], CaptureRequest(size: PictureSize(1920, 1080)))
        #expect(format == .mjpeg)
        #expect(size == PictureSize(1920, 1080))
    }

    @Test("then the rate: chooses a costlier format that is fast enough")
    func rateSecond() throws {
        let formats = [
            Format(pixelFormat: .yuyv, intervals: [(1, 5), (1, 10)]),
            Format(pixelFormat: .mjpeg, intervals: [(1, 30), (1, 15)]),
        ]
        #expect(try granted(formats).0 == .mjpeg)
        #expect(try granted(formats, CaptureRequest(frameRate: FrameRate(10))).0 == .yuyv)
        #expect(try granted(formats, CaptureRequest(frameRate: FrameRate(60))).2 == FrameRate(30))
    }

    @Test("then the cost: chooses the format nearest to the encoder's")
    func costThird() throws {
        let all: [PixelFormat] = [.h264, .grey, .mjpeg, .rgb24, .yuyv, .yvu420, .nv12]
        for count in (2...all.count).reversed() {
            let formats = all.prefix(count).map { Format(pixelFormat: $0) }
            #expect(try granted(formats).0 == all[count - 1])
            #expect(try granted(formats.reversed()).0 == all[count - 1])
        }
    }

    @Test("accepts 29.97 frames a second for 30")
    func nearlyTheRate() throws {
        let (format, _, rate) = try granted([
            Format(pixelFormat: .yuyv, intervals: [(1001, 30000)]),
            Format(pixelFormat: .mjpeg, intervals: [(1, 30)]),
        ])
        #expect(format == .yuyv)
        #expect(rate == FrameRate(30000, 1001))
    }

    @Test("chooses the slowest rate that is fast enough, not the fastest")
    func slowestSufficient() throws {
        let formats = [Format(pixelFormat: .yuyv, intervals: [(1, 60), (1, 30), (1, 25), (1, 15)])]
        #expect(try granted(formats).2 == FrameRate(30))
        #expect(try granted(formats, CaptureRequest(frameRate: FrameRate(20))).2 == FrameRate(25))
    }

    @Test("keeps the current size if none is requested")
    func currentSize() throws {
        #expect(
            try granted([Format(pixelFormat: .yuyv, sizes: [(320, 240), (1920, 1080)])]).1
                == PictureSize(320, 240))
    }

    @Test("falls back to the nearest size")
    func nearestSize() throws {
        #expect(
            try granted(
                [Format(pixelFormat: .yuyv, sizes: [(320, 240), (640, 480), (1280, 720)])],
                CaptureRequest(size: PictureSize(600, 500))
            ).1 == PictureSize(640, 480))
    }

    @Test("a requested format must be granted exactly")
    func explicitFormat() throws {
        let formats = [Format(pixelFormat: .nv12), Format(pixelFormat: .mjpeg)]
        #expect(try granted(formats, CaptureRequest(pixelFormat: .mjpeg)).0 == .mjpeg)
        let device = ScriptedDevice()
        device.formats = formats
        #expect(
            device.failure(CaptureRequest(pixelFormat: .rgb24))
                == .unsupported("the camera has no format RGB3, only NV12, MJPG"))
    }

    @Test("uses a camera's own H.264 only on request")
    func h264() throws {
        #expect(
            try granted([Format(pixelFormat: .h264)], CaptureRequest(pixelFormat: .h264)).0 == .h264)
        let device = ScriptedDevice()
        device.formats = [Format(pixelFormat: .h264)]
        #expect(device.failure() == .unsupported("the camera offers H.264 only; use --format h264"))
    }

    @Test("distinguishes a camera with unreadable formats from one with only H.264")
    func unreadable() throws {
        let (hevc, other) = (try #require(PixelFormat("HEVC")), try #require(PixelFormat("ZZZZ")))
        let device = ScriptedDevice()
        device.formats = [Format(pixelFormat: hevc), Format(pixelFormat: other)]
        #expect(device.failure() == .unreadable([hevc, other]))
        let machine = ScriptedMachine(["/dev/video0": device])
        let error = #expect(throws: CaptureError.self) {
            _ = try Camera.first(of: machine.paths, calls: machine).identity
        }
        #expect(
            error?.description
                == "/dev/video0: it only offers formats that camrec cannot read: HEVC, ZZZZ; "
                + "'camrec devices' lists the cameras")
        device.formats.append(Format(pixelFormat: .h264))
        #expect(
            device.failure()
                == .unsupported(
                    "the camera offers H.264, and HEVC, ZZZZ, which camrec cannot read; use --format h264"))
    }

    @Test("uses the rates of the size in question within a range of sizes")
    func ratesAtSize() throws {
        var raw = Format(pixelFormat: .yuyv, intervals: [(1, 5)])
        (raw.largest, raw.smallIntervals) = ((1920, 1080), [(1, 60), (1, 30), (1, 15)])
        let formats = [raw, Format(pixelFormat: .mjpeg, sizes: [(640, 480), (1920, 1080)])]
        let small = CaptureRequest(size: PictureSize(640, 480))
        #expect(try granted(formats, small) == (.yuyv, PictureSize(640, 480)!, FrameRate(30)!))
        #expect(try granted(formats, CaptureRequest(size: PictureSize(1920, 1080))).0 == .mjpeg)
    }

    @Test("distinguishes a driver without formats from one with only H.264")
    func noFormats() {
        let device = ScriptedDevice()
        device.formats = []
        guard case .driverMisbehaved? = device.failure() else {
            Issue.record("not the driver's fault")
            return
        }
    }

    // MARK: Grants

    @Test("uses what the driver grants: another size, a padded stride, another rate, fields")
    func otherGrant() throws {
        let device = ScriptedDevice()
        device.grant = { format in
            format.fmt.pix.width = 320
            format.fmt.pix.height = 200
            format.fmt.pix.bytesperline = 704
            format.fmt.pix.field = V4L2_FIELD_INTERLACED.rawValue
        }
        device.grantedInterval = (2, 25)
        let format = try device.stream().format
        #expect(format.size == PictureSize(320, 200))
        #expect(format.planes[0].stride == 704)
        #expect(format.frameRate == FrameRate(25, 2))
        #expect(format.isInterlaced)
    }

    @Test("reports a driver that replaces the requested format")
    func otherFormat() throws {
        let device = ScriptedDevice()
        device.grant = { $0.fmt.pix.pixelformat = PixelFormat.uyvy.rawValue }
        #expect(
            device.failure(CaptureRequest(pixelFormat: .yuyv))
                == .unsupported("the camera delivers UYVY instead of YUYV"))
        #expect(try device.stream().format.pixelFormat == .uyvy)
    }

    @Test("blames the driver for a stride shorter than a row")
    func shortStride() {
        let device = ScriptedDevice()
        device.strides = [1279]
        #expect(device.failure() == .driverMisbehaved("it granted rows shorter than 640 pixels"))
    }

    @Test("blames the driver for an absurd stride")
    func hugeStride() {
        let device = ScriptedDevice()
        device.strides = [UInt32.max]
        guard case .driverMisbehaved? = device.failure() else {
            Issue.record("not the driver's fault")
            return
        }
    }

    @Test("blames the driver for a sizeimage too small for a picture")
    func shortImage() {
        let device = ScriptedDevice()
        device.lengths = [1280 * 480 - 1] as [UInt32]
        #expect(device.failure() == .driverMisbehaved("it granted buffers of 614399 bytes, not 614400"))
    }

    @Test(
        "blames the driver for a size of zero or an absurd one",
        arguments: [0, 16385, UInt32.max] as [UInt32])
    func impossibleSize(width: UInt32) {
        let device = ScriptedDevice()
        device.grant = { $0.fmt.pix.width = width }
        #expect(device.failure() == .driverMisbehaved("it granted a size outside 1 to 16384"))
    }

    @Test(
        "keeps the requested rate if the frame interval is impossible and no pictures tell another",
        arguments: [(0, 0), (0, 30), (1, 0), (UInt32.max, 1), (1, UInt32.max)] as [(UInt32, UInt32)])
    func impossibleInterval(numerator: UInt32, denominator: UInt32) throws {
        let device = ScriptedDevice([.frame(.init()), .silence, .frame(.init())])
        device.grantedInterval = (numerator, denominator)
        let stream = try device.stream(CaptureRequest(frameRate: FrameRate(30)))
        #expect(stream.format.frameRate == FrameRate(30))
        #expect(try stream.nextSequence() == 1)
    }

    @Test("keeps the requested rate for a driver without rates")
    func noInterval() throws {
        let device = ScriptedDevice()
        device.formats = [Format(pixelFormat: .yuyv, intervals: [])]
        device.failures[CV4L2_G_PARM] = ENOTTY
        #expect(
            try device.stream(CaptureRequest(frameRate: FrameRate(12))).format.frameRate == FrameRate(12))
    }

    @Test("refuses a number of memory planes that the format does not have", arguments: [1, 3])
    func planeCount(count: Int) {
        let device = ScriptedDevice.multiPlanar()
        device.strides = Array(repeating: 704, count: count)
        device.lengths = Array(repeating: UInt32(704 * 480), count: count)
        #expect(
            device.failure()
                == .unsupported("its format NM12 has \(count) memory planes; try another --format"))
    }

    @Test("accepts a single-plane format through the multi-planar interface")
    func onePlane() throws {
        let device = ScriptedDevice.multiPlanar()
        device.formats = [Format(pixelFormat: .nv12)]
        device.strides = [704]
        device.lengths = [704 * 720] as [UInt32]
        let format = try device.stream().format
        #expect(format.planes.map(\.offset) == [0, 704 * 480])
    }

    // MARK: Buffers

    @Test("refuses no buffers, or more than 32", arguments: [0, 33, 99] as [UInt32])
    func bufferCounts(count: UInt32) {
        let device = ScriptedDevice()
        device.grantedBuffers = count
        #expect(device.failure() == .driverMisbehaved("it granted \(count) buffers, not 10"))
        #expect(device.closeCount == 1)
    }

    @Test("uses as many buffers as the driver insists on", arguments: [1, 2, 3, 32] as [UInt32])
    func otherBufferCount(count: UInt32) throws {
        let device = ScriptedDevice(Array(repeating: .frame(.init()), count: 40))
        device.grantedBuffers = count
        let stream = try device.stream()
        #expect(stream.bufferCount == Int(count))
        for sequence in 0..<UInt32(40) { #expect(try stream.nextSequence() == sequence) }
    }

    @Test("blames the driver for a buffer smaller than a picture")
    func smallBuffer() {
        let device = ScriptedDevice()
        device.bufferLengths = [100]
        #expect(device.failure() == .driverMisbehaved("buffer 0 has 100 of 614400 bytes"))
    }

    // MARK: Refusals

    @Test(
        "reports a camera in use as busy, whichever call notices",
        arguments: [CV4L2_S_FMT, CV4L2_REQBUFS, CV4L2_STREAMON])
    func busy(call: UInt) {
        let device = ScriptedDevice()
        device.failures[call] = EBUSY
        #expect(device.failure() == .busy(holder: nil))
        #expect(device.closeCount == 1)
    }

    @Test("ENOSPC at STREAMON means bandwidth, and itself elsewhere")
    func bandwidth() {
        let device = ScriptedDevice()
        device.failures[CV4L2_STREAMON] = ENOSPC
        #expect(device.failure() == .noBandwidth)
        #expect(device.callCount[CV4L2_STREAMOFF] == nil)
        let other = ScriptedDevice()
        other.failures[CV4L2_REQBUFS] = ENOSPC
        #expect(other.failure() == .systemCallFailed("VIDIOC_REQBUFS", errno: ENOSPC))
    }

    @Test(
        "names every other failed call with its errno, and closes the device",
        arguments: [
            (CV4L2_G_FMT, "VIDIOC_G_FMT"), (CV4L2_S_FMT, "VIDIOC_S_FMT"), (CV4L2_REQBUFS, "VIDIOC_REQBUFS"),
            (CV4L2_QUERYBUF, "VIDIOC_QUERYBUF"), (CV4L2_QBUF, "VIDIOC_QBUF"),
            (CV4L2_STREAMON, "VIDIOC_STREAMON"), (ScriptedDevice.mapping, "mmap"),
        ])
    func otherFailures(call: UInt, name: String) {
        let device = ScriptedDevice()
        device.failures[call] = ENOMEM
        #expect(device.failure() == .systemCallFailed(name, errno: ENOMEM))
        #expect(device.closeCount == 1)
    }

    // MARK: Pixels

    @Test("derives the pixel aspect from the driver's sampling, cropping and scaling")
    func pixelAspect() throws {
        let device = ScriptedDevice()
        func aspect() throws -> PixelAspect? { try device.stream().format.pixelAspect }
        #expect(try aspect() == nil)
        device.pixelAspect = (1, 1)
        #expect(try aspect() == nil)
        // 4:3 PAL; the fraction is height to width.
        device.pixelAspect = (54, 59)
        #expect(try aspect() == PixelAspect(59, 54))
        device.pixelAspect = (11, 10)
        device.selections = [V4L2_SEL_TGT_CROP: (720, 480), V4L2_SEL_TGT_COMPOSE: (720, 240)]
        #expect(try aspect() == PixelAspect(5, 11))
        device.selections[V4L2_SEL_TGT_COMPOSE] = nil
        #expect(try aspect() == PixelAspect(720 * 10 * 480, 480 * 11 * 640))
        device.pixelAspect = (0, 5)
        #expect(try aspect() == nil)
    }

    @Test(
        "places chroma where the format samples it",
        arguments: [
            (PixelFormat.mjpeg, ChromaSiting.center), (.rgb24, .center), (.nv24, .center),
            (.yuv444Planar, .center),
            (.nv12, .left), (.yuyv, .left), (.nv16, .left), (.yuv420, .left),
        ])
    func siting(format: PixelFormat, expected: ChromaSiting) throws {
        #expect(format.layout(64, 48).chromaSiting == expected)
    }

    // MARK: Colours

    @Test("reads the fields after priv only with its magic number")
    func extendedFields() throws {
        let device = ScriptedDevice()
        device.grant = { format in
            format.fmt.pix.colorspace = V4L2_COLORSPACE_SRGB.rawValue
            format.fmt.pix.quantization = V4L2_QUANTIZATION_FULL_RANGE.rawValue
            format.fmt.pix.ycbcr_enc = V4L2_YCBCR_ENC_709.rawValue
        }
        #expect(try device.stream().format.color.range == .limited)
        #expect(try device.stream().format.color.matrix == .bt601)
        let plain = device.grant
        device.grant = { format in
            plain(&format)
            format.fmt.pix.priv = UInt32(V4L2_PIX_FMT_PRIV_MAGIC)
        }
        #expect(try device.stream().format.color.range == .full)
        #expect(try device.stream().format.color.matrix == .bt709)
    }
}
