import CV4L2
import Glibc
import Testing

@testable import Capture

/// A camera's controls: listing, parsing, setting and restoring them.
@Suite struct CameraControlTests {
    private static func device() -> ScriptedDevice {
        let device = ScriptedDevice()
        device.controls = [
            .init(id: 1, title: "User Controls", type: V4L2_CTRL_TYPE_CTRL_CLASS),
            .init(id: 2, title: "Brightness", range: -64...64, defaultValue: 0, value: 5),
            .init(
                id: 3, title: "White Balance Temperature, Auto", type: V4L2_CTRL_TYPE_BOOLEAN, range: 0...1,
                defaultValue: 1, value: 1),
            .init(
                id: 4, title: "Auto Exposure", type: V4L2_CTRL_TYPE_MENU, range: 0...3, defaultValue: 3,
                menu: [nil, "Manual Mode", nil, "Aperture Priority Mode"], value: 3),
            .init(id: 5, title: "Gone", flags: UInt32(V4L2_CTRL_FLAG_DISABLED)),
            .init(id: 6, title: "Exposure Time, Absolute", range: 3...2047, defaultValue: 250, value: 250),
            .init(id: 7, title: "Big", type: V4L2_CTRL_TYPE_INTEGER64, range: 0...(1 << 40), value: 1 << 33),
            .init(
                id: 8, title: "Caption", type: V4L2_CTRL_TYPE_STRING, range: 1...8,
                flags: UInt32(V4L2_CTRL_FLAG_HAS_PAYLOAD), text: "hello"),
            .init(id: 9, title: "Bits", type: V4L2_CTRL_TYPE_BITMASK, range: 0...0xF0, value: 0x30),
            .init(id: 10, title: "Serial", flags: UInt32(V4L2_CTRL_FLAG_READ_ONLY), value: 7),
            .init(
                id: 11, title: "Matrix", flags: UInt32(V4L2_CTRL_FLAG_HAS_PAYLOAD), dimensions: 2),
        ]
        return device
    }

    private static func set(_ text: String, on device: ScriptedDevice) throws -> [ControlChange] {
        var request = CaptureRequest()
        request.controls = try #require(ControlSetting.list(text))
        return try device.camera().makeStream(request).controlChanges
    }

    private static func refusal(_ text: String, on device: ScriptedDevice = device()) -> String? {
        do {
            _ = try set(text, on: device)
            return nil
        } catch { return (error as? CaptureError)?.description }
    }

    @Test("headings and disabled entries are not controls")
    func list() throws {
        let controls = try Self.device().camera().controls
        #expect(
            controls.map(\.name) == [
                "brightness", "white_balance_temperature_auto", "auto_exposure", "exposure_time_absolute",
                "big", "caption", "bits", "serial", "matrix",
            ])
        #expect(
            controls.map { $0.value.map($0.text) } == [
                "5", "on", "3: Aperture Priority Mode", "250", "\(1 << 33)", "hello", "0x30", "7", nil,
            ])
        #expect(controls[2].choices == "1: Manual Mode, 3: Aperture Priority Mode")
    }

    @Test("gives up on a list that never ends")
    func endlessList() throws {
        let device = Self.device()
        device.listsAreEndless = true
        #expect(try device.camera().controls.count <= 1)
    }

    @Test(
        "accepts a number, a word, a menu's entry or its beginning",
        arguments: [
            ("brightness=-64", "-64"), ("white_balance_temperature_auto=off", "off"),
            ("auto_exposure=1", "1: Manual Mode"), ("auto_exposure=manual", "1: Manual Mode"),
            ("auto_exposure=Manual Mode", "1: Manual Mode"),
            ("auto_exposure=1: Manual Mode", "1: Manual Mode"),
            ("Exposure Time_Absolute=100", "100"),
            ("big=8589934593", "8589934593"),
            ("caption=now", "now"), ("bits=0x50", "0x50"),
        ])
    func values(text: String, expected: String) throws {
        let change = try #require(try Self.set(text, on: Self.device()).first)
        #expect(change.control.text(of: change.wanted) == expected)
        #expect(change.granted == change.wanted)
    }

    @Test(
        "refuses an impossible value and lists the possible ones",
        arguments: [
            ("brightness=65", "it takes -64 to 64"), ("brightness=", "it takes -64 to 64"),
            ("auto_exposure=2", "it takes 1: Manual Mode, 3:"), ("auto_exposure=m0de", "it takes 1: Manual"),
            ("white_balance_temperature_auto=maybe", "it takes off or on"), ("bits=0x1", "bits of 0xf0"),
            ("caption=far too long", "1 to 8 bytes"), ("serial=8", "is read-only"),
            ("matrix=1", "set it with v4l2-ctl"), ("brihgtness=1", "did you mean 'brightness'?"),
            ("exposure_time=1", "did you mean 'exposure_time_absolute'?"), ("zoom=1", "lists them"),
        ])
    func refusals(text: String, reason: String) throws {
        #expect(try #require(Self.refusal(text)).contains(reason))
    }

    @Test("sets menus and switches before the controls that depend on them")
    func order() throws {
        let device = Self.device()
        _ = try Self.set("exposure_time_absolute=100,auto_exposure=manual", on: device)
        #expect(device.controlsSet == ["Auto Exposure", "Exposure Time, Absolute"])
    }

    @Test("sets all or none: restores earlier ones if the driver refuses one")
    func atomic() throws {
        let device = Self.device()
        device.controls[5].refusal = EACCES
        #expect(
            Self.refusal("brightness=9,exposure_time_absolute=100", on: device)?.contains("rejects") == true)
        #expect(device.controls[1].value == 5)
        #expect(device.closeCount == 1)
    }

    @Test("reports a value that the driver changes")
    func adjusted() throws {
        let device = Self.device()
        device.controls[1].adjust = { $0 & ~1 }
        let change = try #require(try Self.set("brightness=9", on: device).first)
        #expect((change.wanted, change.granted) == (.number(9), .number(8)))
    }

    @Test("restores the previous values on request, the last change first, once", arguments: [true, false])
    func restore(isAsked: Bool) throws {
        let device = Self.device()
        var request = CaptureRequest()
        request.controls = try #require(ControlSetting.list("brightness=9,auto_exposure=1"))
        request.restoresControls = isAsked
        let stream = try device.stream(request)
        stream.stop()
        stream.stop()
        let back = isAsked ? ["Brightness", "Auto Exposure"] : []
        #expect(device.controlsSet == ["Auto Exposure", "Brightness"] + back)
        #expect(device.controls[1].value == (isAsked ? 5 : 9))
    }

    @Test("a test picture has no controls")
    func otherSources() throws {
        var request = CaptureRequest()
        request.controls = try #require(ControlSetting.list("brightness=9"))
        #expect(throws: CaptureError.self) { try CaptureSource.open("test", request: request) }
        #expect(throws: CaptureError.self) { try CaptureSource.open("a.y4m", request: request) }
    }

    @Test("settings are names, an equals sign and a value", arguments: ["", "a", "=1", "a=1,", "a=1,,b=2"])
    func malformed(text: String) { #expect(ControlSetting.list(text) == nil) }
}
