import CV4L2
import CamPictures
import Testing

@testable import Capture

/// How a driver's controls say that a picture was exposed.
@Suite struct ExposureTests {
    private static let inactive = UInt32(V4L2_CTRL_FLAG_INACTIVE)

    private static func time(_ value: Int64, flags: UInt32 = 0) -> ScriptedDevice.Control {
        .init(
            id: CV4L2_EXPOSURE_ABSOLUTE, title: "Exposure Time, Absolute", range: 1...10000, flags: flags,
            value: value)
    }

    private func exposure(_ controls: [ScriptedDevice.Control]) throws -> (Exposure?, read: [String]) {
        let device = ScriptedDevice()
        device.controls = controls
        let stream = try device.camera().makeStream(CaptureRequest())
        device.controlsRead = []
        return (stream.exposure, device.controlsRead)
    }

    @Test("is a time in units of 100 microseconds")
    func time() throws {
        #expect(
            try exposure([Self.time(250)]).0 == Exposure(time: .milliseconds(25), sensitivity: nil))
    }

    @Test("a camera without such controls says nothing, nor does one with impossible values")
    func nothing() throws {
        #expect(try exposure([]).0 == nil)
        #expect(try exposure([Self.time(0)]).0 == nil)
        #expect(try exposure([Self.time(-5)]).0 == nil)
    }

    @Test("what an automatic mode makes inactive is not even asked for: it may take long, and says nothing")
    func automatic() throws {
        let (exposure, read) = try exposure([Self.time(250, flags: Self.inactive)])
        #expect(exposure == nil && read.isEmpty)
    }
}
