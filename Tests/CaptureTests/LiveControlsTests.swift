import CV4L2
import Testing

@testable import Capture

/// Controls that are set while the camera records.
@Suite struct LiveControlsTests {
    private let camera = LiveControlsTests.webcam()
    private let machine: ScriptedMachine

    init() { machine = ScriptedMachine(["/dev/video0": camera]) }

    private static func webcam(brightness: Int64 = 5) -> ScriptedDevice {
        let device = ScriptedDevice()
        device.controls = [
            .init(id: 2, title: "Brightness", range: -64...64, defaultValue: 0, value: brightness),
            .init(id: 3, title: "Contrast", range: 0...10, defaultValue: 5, value: 5),
            .init(id: 6, title: "Exposure Time, Absolute", range: 3...2047, defaultValue: 250, value: 250),
        ]
        return device
    }

    private func record(
        _ text: String = "", restores: Bool = false
    ) throws -> (stream: CameraStream, controls: LiveControls, finder: CameraFinder) {
        var request = CaptureRequest()
        if !text.isEmpty { request.controls = try #require(ControlSetting.list(text)) }
        request.restoresControls = restores
        let stream = try Camera(path: "/dev/video0", calls: machine).makeStream(request)
        let controls = LiveControls(request, calls: machine)
        controls.attach(to: stream.identity)
        let finder = CameraFinder(
            stream.identity, link: nil, request: request, controls: controls,
            machine: .init(calls: machine, nodes: { [machine] in machine.paths }, place: { _ in nil }))
        return (stream, controls, finder)
    }

    private func set(_ text: String, _ controls: LiveControls) throws {
        _ = try controls.set(try #require(ControlSetting.list(text)))
    }

    @Test("are listed and set beside the stream, which keeps its node")
    func set() throws {
        let (stream, controls, _) = try record()
        let change = try #require(
            try controls.set([ControlSetting(name: "brightness", value: "9")]).first)
        #expect(change.granted == .number(9))
        #expect(try controls.all().first?.value == .number(9))
        #expect(machine.openDescriptors.count == 1)
        stream.releaseDevice()
    }

    @Test("are set again when the camera comes back, the latest values, on whatever node it has")
    func again() throws {
        let (stream, controls, finder) = try record()
        try set("brightness=9,contrast=2", controls)
        try set("brightness=11", controls)
        stream.releaseDevice()
        let back = Self.webcam(brightness: 0)
        machine.devices = ["/dev/video4": back]
        let again = try finder.open(continuing: stream.format)
        #expect(back.controls.map(\.value) == [11, 2, 250])
        // A slow camera is asked for its controls once, not for each of them.
        #expect(back.controlsRead.count == 3)
        try set("contrast=3", controls)
        #expect(back.controls[1].value == 3)
        again.releaseDevice()
    }

    @Test("are set again with menus and switches first, which others depend on")
    func order() throws {
        let backlight = ScriptedDevice.Control(
            id: 9, title: "Backlight", type: V4L2_CTRL_TYPE_BOOLEAN, range: 0...1)
        camera.controls.append(backlight)
        let (stream, controls, finder) = try record()
        try set("brightness=9,backlight=1", controls)
        stream.releaseDevice()
        let back = Self.webcam()
        back.controls.append(backlight)
        machine.devices = ["/dev/video0": back]
        let again = try finder.open(continuing: stream.format)
        #expect(back.controlsSet == ["Backlight", "Brightness"])
        again.releaseDevice()
    }

    @Test("one that the camera no longer takes keeps no picture from being recorded")
    func refusedAgain() throws {
        let (stream, controls, finder) = try record()
        try set("exposure_time_absolute=100,contrast=2", controls)
        stream.releaseDevice()
        camera.controls[2].refusal = 13
        let again = try finder.open(continuing: stream.format)
        #expect(camera.controls[1].value == 2)
        again.releaseDevice()
    }

    @Test("are put back at the end if that was asked for, to the values before the first change")
    func restore() throws {
        for restores in [false, true] {
            let (stream, controls, _) = try record("contrast=7", restores: restores)
            try set("brightness=9,contrast=8", controls)
            try set("brightness=10", controls)
            stream.releaseDevice()
            #expect(controls.restore())
            #expect(camera.controls[0].value == (restores ? 5 : 10))
            #expect(camera.controls[1].value == (restores ? 5 : 8))
            camera.controls[0].value = 5
            camera.controls[1].value = 5
        }
    }

    @Test("are one control, whichever kernel's name is used for it")
    func otherKernels() throws {
        camera.controls.append(
            .init(id: CV4L2_EXPOSURE_ABSOLUTE, title: "Exposure Time, Absolute", range: 3...2047, value: 250))
        camera.controls.remove(at: 2)
        let (stream, controls, finder) = try record("exposure_absolute=100", restores: true)
        try set("exposure_absolute=200", controls)
        try set("exposure_time_absolute=300", controls)
        stream.releaseDevice()
        #expect(camera.controls[2].value == 250)
        // The stream has restored the value from before: it is the recording's that must not come back.
        #expect(controls.restore())
        #expect(camera.controls[2].value == 250)
        let again = try finder.open(continuing: stream.format)
        #expect(camera.controls[2].value == 300)
        again.releaseDevice()
    }

    @Test("never reach another camera that now has the node")
    func another() throws {
        let (stream, controls, _) = try record(restores: true)
        try set("brightness=9", controls)
        stream.releaseDevice()
        let other = Self.webcam()
        other.bus = "usb-9"
        machine.devices = ["/dev/video0": other]
        #expect(throws: CaptureError.self) { try set("brightness=1", controls) }
        #expect(!controls.restore())
        #expect(other.controlsSet.isEmpty)
    }

    @Test("a source that is not a camera has none")
    func none() {
        let controls = LiveControls(CaptureRequest(), calls: machine)
        controls.attach(to: SourceIdentity(device: "test", name: "test"))
        #expect(!controls.hasCamera)
        #expect(throws: CaptureError.self) { try controls.all() }
    }
}
