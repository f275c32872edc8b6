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

    /// A USB camera as a kernel presents it.
    private static func webcam(_ names: [UInt32: String], mode: Int64 = 3) -> ScriptedDevice {
        let device = ScriptedDevice()
        device.controls = [
            .init(
                id: CV4L2_AUTO_WHITE_BALANCE, title: "", type: V4L2_CTRL_TYPE_BOOLEAN, range: 0...1, value: 1),
            .init(id: CV4L2_WHITE_BALANCE_TEMPERATURE, title: "", range: 2800...6500, value: 4600),
            .init(
                id: CV4L2_EXPOSURE_AUTO, title: "", type: V4L2_CTRL_TYPE_MENU, range: 0...3,
                menu: [nil, "Manual Mode", nil, "Aperture Priority Mode"], value: mode),
            .init(id: CV4L2_EXPOSURE_ABSOLUTE, title: "", range: 3...2047, value: 250),
            .init(
                id: CV4L2_EXPOSURE_AUTO_PRIORITY, title: "", type: V4L2_CTRL_TYPE_BOOLEAN, range: 0...1),
            .init(id: CV4L2_FOCUS_AUTO, title: "", type: V4L2_CTRL_TYPE_BOOLEAN, range: 0...1, value: 1),
        ]
        for index in device.controls.indices {
            device.controls[index].title = names[device.controls[index].id] ?? "Number \(index)"
        }
        return device
    }

    /// Since Linux 5.16.
    private static let newNames: [UInt32: String] = [
        CV4L2_AUTO_WHITE_BALANCE: "White Balance, Automatic",
        CV4L2_WHITE_BALANCE_TEMPERATURE: "White Balance Temperature", CV4L2_EXPOSURE_AUTO: "Auto Exposure",
        CV4L2_EXPOSURE_ABSOLUTE: "Exposure Time, Absolute",
        CV4L2_EXPOSURE_AUTO_PRIORITY: "Exposure, Dynamic Framerate",
        CV4L2_FOCUS_AUTO: "Focus, Automatic Continuous",
    ]
    /// Before Linux 5.16.
    private static let oldNames: [UInt32: String] = [
        CV4L2_AUTO_WHITE_BALANCE: "White Balance Temperature, Auto",
        CV4L2_WHITE_BALANCE_TEMPERATURE: "White Balance Temperature", CV4L2_EXPOSURE_AUTO: "Exposure, Auto",
        CV4L2_EXPOSURE_ABSOLUTE: "Exposure (Absolute)",
        CV4L2_EXPOSURE_AUTO_PRIORITY: "Exposure, Auto Priority", CV4L2_FOCUS_AUTO: "Focus, Auto",
    ]

    @Test(
        "finds a control by the names of other kernels", arguments: [oldNames, newNames],
        [oldNames, newNames])
    func otherKernels(kernel: [UInt32: String], script: [UInt32: String]) throws {
        let device = Self.webcam(kernel)
        let values = [
            CV4L2_EXPOSURE_AUTO: "manual", CV4L2_EXPOSURE_ABSOLUTE: "100", CV4L2_EXPOSURE_AUTO_PRIORITY: "1",
            CV4L2_AUTO_WHITE_BALANCE: "off", CV4L2_FOCUS_AUTO: "off",
        ]
        let settings = values.map { "\(CameraControl.name(of: script[$0] ?? ""))=\($1)" }
        let changes = try Self.set(settings.joined(separator: ","), on: device)
        #expect(Set(changes.map(\.control.id)) == Set(values.keys))
        #expect(changes.allSatisfy { $0.control.title == kernel[$0.control.id] })
        #expect(device.controls.map(\.value) == [0, 4600, 1, 100, 1, 0])
    }

    @Test("the driver's own names come first")
    func ownNames() throws {
        let device = Self.webcam(Self.newNames)
        device.controls.append(.init(id: CV4L2_FOCUS_AUTO + 1, title: "Exposure (Absolute)", value: 7))
        _ = try Self.set("exposure_absolute=9", on: device)
        #expect(device.controls.map(\.value).suffix(1) == [9])
        #expect(device.controls[3].value == 250)
    }

    @Test("suggests the driver's name for a misspelled one of another kernel")
    func otherSuggestion() {
        let refusal = Self.refusal("focus_aut=1", on: Self.webcam(Self.newNames))
        #expect(refusal?.contains("did you mean 'focus_automatic_continuous'?") == true)
    }

    @Test("says which other control to set before an inactive one", arguments: [EACCES, EINVAL, ERANGE, EIO])
    func inactive(code: Int32) {
        let device = Self.webcam(Self.newNames)
        for index in [1, 3] {
            device.controls[index].flags = UInt32(V4L2_CTRL_FLAG_INACTIVE)
            device.controls[index].refusal = code
        }
        #expect(
            Self.refusal("exposure_time_absolute=200", on: device)?.hasSuffix(
                "exposure_time_absolute could not be set to 200: it is inactive while auto_exposure is "
                    + "'3: Aperture Priority Mode'; set auto_exposure=manual_mode first") == true)
        #expect(
            Self.refusal("white_balance_temperature=3000", on: device)?.hasSuffix(
                "it is inactive while white_balance_automatic is 'on'; set white_balance_automatic=off first")
                == true)
    }

    @Test("a control that a setting has just made active is not called inactive")
    func noLongerInactive() {
        let device = Self.webcam(Self.newNames)
        device.controls[3].flags = UInt32(V4L2_CTRL_FLAG_INACTIVE)
        device.controls[3].refusal = ERANGE
        device.controls[2].adjust = {
            device.controls[3].flags = 0
            return $0
        }
        let refusal = Self.refusal("auto_exposure=manual,exposure_time_absolute=200", on: device)
        #expect(refusal?.hasSuffix("the driver rejects it; it takes 3 to 2047") == true)
    }

    @Test("leaves out controls that the camera does not have, if it may")
    func missing() throws {
        let device = Self.webcam(Self.newNames)
        var request = CaptureRequest()
        request.controls = try #require(ControlSetting.list("gone=1,auto_exposure=manual,focus=2"))
        request.skipsMissingControls = true
        let stream = try device.camera().makeStream(request)
        #expect(stream.controlChanges.map(\.control.name) == ["auto_exposure"])
        #expect(stream.missingControls.count == 2)
        #expect(stream.missingControls.first?.description.contains("it has no control 'gone'") == true)
        // A value that the control does not take is a mistake in any case.
        request.controls = try #require(ControlSetting.list("auto_exposure=9"))
        #expect(throws: CaptureError.self) { try device.camera().makeStream(request) }
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
