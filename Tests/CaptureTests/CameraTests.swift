import CV4L2
import Glibc
import CamPictures
import Testing

@testable import Capture

/// Which nodes are cameras, and which of several is "the camera".
@Suite struct CameraTests {
    private static let capture = UInt32(V4L2_CAP_VIDEO_CAPTURE)
    private static let captureMultiPlanar = UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE)
    private static let streaming = UInt32(V4L2_CAP_STREAMING)
    private static let metadata = UInt32(V4L2_CAP_META_CAPTURE)
    private static let output = UInt32(V4L2_CAP_VIDEO_OUTPUT)
    private static let mediaController = UInt32(V4L2_CAP_IO_MC)

    private static func device(_ deviceCaps: UInt32, formats: [PixelFormat] = [.yuyv]) -> ScriptedDevice {
        let device = ScriptedDevice()
        device.deviceCaps = deviceCaps
        device.formats = formats.map { ScriptedDevice.Format(pixelFormat: $0) }
        return device
    }

    @Test("reports the camera's identity")
    func identity() throws {
        let identity = try ScriptedDevice().camera().identity
        #expect(identity.device == ScriptedDevice.path)
        #expect(identity.name == "Scripted Camera")
        #expect(identity.driver == "scripted")
        #expect(identity.bus == "usb-1.2")
    }

    @Test("leaves another recorder's camera alone, but can inspect it")
    func claimed() throws {
        let device = ScriptedDevice()
        device.isClaimed = true
        let camera = try device.camera()
        #expect(!camera.formats.isEmpty)
        let error = #expect(throws: CaptureError.self) {
            _ = try device.camera().makeStream(CaptureRequest())
        }
        #expect(error?.kind == .busy(holder: nil))
        #expect(device.callCount[CV4L2_S_FMT] == nil)
    }

    @Test("reports a camera that another program streams from as busy")
    func busy() throws {
        let idle = try ScriptedDevice().camera().isBusy
        #expect(!idle)
        let device = ScriptedDevice()
        device.failures[CV4L2_REQBUFS] = EBUSY
        let busy = try device.camera().isBusy
        #expect(busy)
    }

    @Test("uses device_caps, which describe the node: a camera's metadata node is refused")
    func metadataNode() {
        let device = Self.device(Self.metadata | Self.streaming)
        device.capabilities = Self.capture | Self.metadata | Self.streaming
        #expect(device.failure() == .notACaptureDevice("it only delivers metadata"))
        #expect(device.closeCount == 1)
    }

    @Test("refuses a node whose pipeline others must set up")
    func mediaControllerNode() {
        let device = Self.device(Self.capture | Self.streaming | Self.mediaController)
        #expect(
            device.failure() == .notACaptureDevice("its pipeline must be set up with media-ctl first"))
    }

    @Test("refuses nodes that only output or process video, or cannot stream")
    func others() {
        let processor = UInt32(V4L2_CAP_VIDEO_M2M)
        for caps in [Self.output | Self.streaming, processor | Self.streaming, 0] {
            #expect(
                Self.device(caps).failure()
                    == .notACaptureDevice("it outputs or processes video, or is not a camera"))
        }
        #expect(
            Self.device(Self.capture).failure()
                == .notACaptureDevice("its driver cannot stream into memory"))
    }

    @Test("accepts a node that captures and outputs, such as a loopback device")
    func loopback() throws {
        _ = try Self.device(Self.capture | Self.output | Self.streaming).camera()
    }

    @Test("prefers the single-planar interface if a node has both")
    func planes() throws {
        let both = try Self.device(Self.capture | Self.captureMultiPlanar | Self.streaming).camera()
            .isMultiPlanar
        #expect(!both)
        let multiPlanarOnly = try Self.device(Self.captureMultiPlanar | Self.streaming).camera().isMultiPlanar
        #expect(multiPlanarOnly)
    }

    @Test("refuses a device that does not answer QUERYCAP")
    func foreignDevice() {
        let device = ScriptedDevice()
        device.failures[CV4L2_QUERYCAP] = ENOTTY
        #expect(device.failure() == .notACaptureDevice("it does not support V4L2"))
    }

    @Test(
        "does not choose an infrared sensor by default", arguments: ["GREY", "Y8I", "Y10", "Y16"])
    func infrared(name: String) throws {
        let format = try #require(PixelFormat(name))
        let reservation = try Self.device(Self.capture | Self.streaming, formats: [format]).camera()
            .reservation
        #expect(reservation != nil)
        let withColor = try Self.device(Self.capture | Self.streaming, formats: [format, .mjpeg]).camera()
        let reservationWithColor = withColor.reservation
        #expect(reservationWithColor == nil)
    }

    @Test("chooses the first node that captures pictures")
    func first() throws {
        let usual = Self.capture | Self.streaming
        let machine = ScriptedMachine([
            "/dev/video0": Self.device(Self.metadata | Self.streaming),
            "/dev/video1": Self.device(usual, formats: [.grey]),
            "/dev/video2": Self.device(usual | Self.mediaController),
            "/dev/video3": Self.device(Self.output | Self.streaming),
            "/dev/video4": Self.device(usual),
            "/dev/video5": Self.device(usual),
        ])
        let camera = try Camera.first(of: machine.paths, calls: machine)
        let path = camera.identity.device
        #expect(path == "/dev/video4")
        #expect(machine.openDescriptors.count == 1)
    }

    @Test(
        "does not choose an image processor's output by default, nor touches one in use")
    func processor() throws {
        let (isp, camera) = (Self.device(Self.capture | Self.streaming), ScriptedDevice())
        isp.bufferFlags = UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY)
        let machine = ScriptedMachine(["/dev/video14": isp, "/dev/video20": camera])
        let path = try Camera.first(of: machine.paths, calls: machine).identity.device
        #expect(path == "/dev/video20")
        #expect(isp.callCount[CV4L2_REQBUFS] == 2)
        let reservation = try Camera(path: "/dev/video14", calls: machine).reservation
        #expect(reservation == "it relays the video of another program")
        isp.isClaimed = true
        _ = try Camera.first(of: machine.paths, calls: machine)
        #expect(isp.callCount[CV4L2_REQBUFS] == 4)
    }

    @Test("without a camera, says so, or which node may not be opened")
    func none() {
        let empty = ScriptedMachine([:])
        #expect(kind { try Camera.first(of: empty.paths, calls: empty) } == .noCamera)
        let infraredOnly = ScriptedMachine([
            "/dev/video0": Self.device(Self.capture | Self.streaming, formats: [.grey])
        ])
        #expect(kind { try Camera.first(of: infraredOnly.paths, calls: infraredOnly) } == .noCamera)
        infraredOnly.forbidden = ["/dev/video9"]
        let refusal = kind { try Camera.first(of: ["/dev/video0", "/dev/video9"], calls: infraredOnly) }
        #expect(refusal == .permissionDenied(group: nil))
    }

    @Test(
        "reports the cause of a failed open",
        arguments: [
            (ENOENT, .notFound), (ENODEV, .notFound), (EACCES, .permissionDenied(group: nil)),
            (EBUSY, .busy(holder: nil)), (EISDIR, .notACaptureDevice("it is a folder")),
            (EMFILE, .systemCallFailed("open", errno: EMFILE)),
        ] as [(Int32, CaptureError.Kind)])
    func opening(code: Int32, expected: CaptureError.Kind) {
        let machine = ScriptedMachine([:])
        machine.openError = code
        #expect(kind { try Camera(path: "/dev/none", calls: machine) } == expected)
    }

    private func kind(_ open: () throws -> Camera) -> CaptureError.Kind? {
        do {
            _ = try open()
            return nil
        } catch {
            return (error as? CaptureError)?.kind
        }
    }

    @Test("follows endless lists up to a bound")
    func endlessLists() throws {
        let device = ScriptedDevice()
        device.listsAreEndless = true
        let formats = try device.camera().formats
        #expect(!formats.isEmpty)
        let calls = device.callCount.values.reduce(0, +)
        #expect(calls < 300_000)
    }

    @Test("leaves out formats that are only emulated")
    func emulated() throws {
        let device = ScriptedDevice()
        device.formats = [
            .init(pixelFormat: .yuv420, flags: UInt32(V4L2_FMT_FLAG_EMULATED)), .init(pixelFormat: .mjpeg),
        ]
        #expect(try device.camera().formats.map(\.pixelFormat) == [.mjpeg])
    }

    @Test("lists the fastest rates first; 0/0 is none")
    func rates() throws {
        let device = ScriptedDevice()
        device.formats = [
            .init(pixelFormat: .yuyv, intervals: [(0, 0), (1, 15), (1001, 30000), (1, 0), (0, 1)])
        ]
        let rates = try device.camera().formats[0].sizes[0].rates.listed
        #expect(rates == [FrameRate(30000, 1001), FrameRate(15)])
    }
}
