import CV4L2
import Glibc
import CamPictures
import Testing

@testable import Capture

/// Rates that a driver does not simply report.
@Suite struct SignalRateTests {
    /// Timings of CEA-861: the totals including blanking, and the pixel clock.
    private static func timings(
        _ width: UInt32, _ height: UInt32, total: (UInt32, UInt32), clock: UInt64, interlaced: Bool = false,
        flags: Int32 = 0
    ) -> v4l2_bt_timings {
        var timings = v4l2_bt_timings()
        (timings.width, timings.height) = (width, height)
        (timings.hfrontporch, timings.hsync) = (8, 4)
        timings.hbackporch = total.0 - width - 12
        (timings.vfrontporch, timings.vsync) = (2, 5)
        timings.vbackporch = interlaced ? 15 : total.1 - height - 7
        if interlaced {
            timings.interlaced = 1
            (timings.il_vfrontporch, timings.il_vsync) = (2, 5)
            timings.il_vbackporch = total.1 - height - 29
        }
        timings.pixelclock = clock
        timings.flags = UInt32(flags)
        return timings
    }

    private static let p60 = timings(1280, 720, total: (1650, 750), clock: 74_250_000)
    private static let p50 = timings(1280, 720, total: (1980, 750), clock: 74_250_000)

    /// An HDMI input like tc358743's: no rate except the signal's.
    private func input(_ timings: v4l2_bt_timings?) -> ScriptedDevice {
        let device = ScriptedDevice()
        device.timings = timings
        device.formats = [.init(pixelFormat: .yuyv, intervals: [])]
        device.failures[CV4L2_G_PARM] = ENOTTY
        return device
    }

    @Test("an HDMI input without its own rate has the signal's, whatever is requested")
    func signal() throws {
        let reduced = V4L2_DV_FL_REDUCED_FPS | V4L2_DV_FL_CAN_DETECT_REDUCED_FPS
        let cases: [(v4l2_bt_timings, FrameRate?)] = [
            (Self.p60, FrameRate(60)), (Self.p50, FrameRate(50)),
            (Self.timings(1280, 720, total: (1650, 750), clock: 74_175_824), FrameRate(60000, 1001)),
            (
                Self.timings(1280, 720, total: (1650, 750), clock: 74_250_000, flags: reduced),
                FrameRate(60000, 1001)
            ),
            // A flag that only transmitters have.
            (
                Self.timings(1280, 720, total: (1650, 750), clock: 74_250_000, flags: V4L2_DV_FL_REDUCED_FPS),
                FrameRate(60)
            ),
            (
                Self.timings(1920, 1080, total: (2640, 1125), clock: 74_250_000, interlaced: true),
                FrameRate(25)
            ),
            (
                Self.timings(1920, 1080, total: (2200, 1125), clock: 74_175_824, interlaced: true),
                FrameRate(30000, 1001)
            ),
            (Self.timings(1024, 768, total: (1344, 806), clock: 76_000_000), FrameRate(70.158)),
        ]
        for (timings, rate) in cases {
            let format = try input(timings).stream(CaptureRequest(frameRate: FrameRate(30))).format
            #expect(format.frameRate == rate)
        }
    }

    @Test("a signal that changes from 60 to 50 at the same size is another format")
    func changes() throws {
        let device = input(Self.p60)
        device.events = [.sourceChanges(UInt32(V4L2_EVENT_SRC_CH_RESOLUTION))]
        let stream = try device.stream()
        let error = #expect(throws: CaptureError.self) { try stream.nextSequence() }
        #expect(error?.kind == .sourceChanged)
        stream.releaseDevice()
        device.timings = Self.p50
        let finder = CameraFinder(
            stream.identity, link: nil, request: CaptureRequest(),
            machine: .init(calls: device, nodes: { [] }, place: { _ in nil }))
        let format = try finder.open(continuing: stream.format).format
        #expect(format.size == stream.format.size)
        #expect(format.frameRate == FrameRate(50))
        device.timings = Self.p60
        #expect(try finder.open(continuing: stream.format).format === stream.format)
    }

    @Test("prefers a driver's settable rate to the signal's timings")
    func settable() throws {
        let device = input(Self.p60)
        device.failures = [:]
        #expect(try device.stream(CaptureRequest(frameRate: FrameRate(30))).format.frameRate == FrameRate(30))
    }

    @Test("without either, measures the first second's pictures, lost ones included")
    func measured() throws {
        let device = input(nil)
        // Every third one is lost: 33 ms on average between those that arrive, 22 ms between those that were
        // captured.
        device.events = (0..<200).map { .frame(.init(sequence: UInt32($0 * 3 / 2))) }
        let stream = try device.stream(CaptureRequest(frameRate: FrameRate(12)))
        #expect(abs(stream.format.frameRate.framesPerSecond - 45.455) < 0.7)
        #expect(device.events.count > 150)
        #expect(stream.losses == CaptureLosses())
        #expect(try stream.nextSequence() != nil)
    }

    @Test("ignores numbers that do not count pictures")
    func numbersInMilliseconds() throws {
        let device = input(nil)
        device.events = (0..<200).map { .frame(.init(sequence: UInt32($0 * 33))) }
        let stream = try device.stream(CaptureRequest(frameRate: FrameRate(12)))
        #expect(abs(stream.format.frameRate.framesPerSecond - 30.303) < 0.5)
    }

    @Test("rounds to the usual video rates")
    func snapped() {
        #expect(FrameRate(measured: 29.96, tolerance: 0.005) == FrameRate(30000, 1001))
        #expect(FrameRate(measured: 30.002, tolerance: 0.005) == FrameRate(30))
        #expect(FrameRate(measured: 24.98, tolerance: 0.005) == FrameRate(25))
        #expect(FrameRate(measured: 7.5, tolerance: 0.005) == FrameRate(7.5))
        #expect(FrameRate(measured: 0, tolerance: 0.005) == nil)
    }

    @Test("keeps the requested rate for a silent camera, which fails where it would anyway")
    func silent() throws {
        let device = input(nil)
        device.events = []
        let stream = try device.stream(CaptureRequest(frameRate: FrameRate(12)))
        #expect(stream.format.frameRate == FrameRate(12))
        let again = input(nil)
        again.events = (0..<100).map { _ in .frame(.init()) }
        let camera = try again.camera()
        #expect(
            try camera.makeStream(CaptureRequest(), continuing: stream.format).format.frameRate
                == FrameRate(12))
        #expect(again.events.count == 100)
    }
}

extension FrameRate {
    fileprivate init?(_ value: Double) { self.init(Int((value * 1000).rounded()), 1000) }
}
