import CamPictures
import Testing

@testable import Capture
@testable import camrec

/// What a shell offers for a command line that is being typed.
@Suite struct CompletionTests {
    @Test("reads an option's value from the next word or after '=', and the last one counts")
    func values() {
        let line = PartialCommandLine(words: [
            "camrec", "--device=/dev/video0", "--size", "640x480", "--format",
        ])
        #expect(line.value(of: "--device") == "/dev/video0")
        #expect(line.value(of: "--size") == "640x480")
        #expect(line.value(of: "--format") == nil)
        #expect(line.value(of: "--fps") == nil)
        let twice = PartialCommandLine(words: ["camrec", "--device", "a", "--device", "'b'"])
        #expect(twice.value(of: "--device") == "b")
    }

    @Test("offers a camera by its first name that has been begun and that no shell interprets")
    func names() {
        let names = [
            "/dev/v4l/by-path/pci-0:1.0", "/dev/camrec/$(reboot)", "/dev/camrec/Door_1", "/dev/video0",
        ]
        #expect(DeviceCompletion.offered(of: names, for: "/dev/") == "/dev/camrec/Door_1")
        #expect(DeviceCompletion.offered(of: names, for: "/dev/vi") == "/dev/video0")
        #expect(DeviceCompletion.offered(of: names, for: "/dev/v4l") == nil)
    }

    private static func size(
        _ smallest: PictureSize, _ largest: PictureSize, rates: [Int]
    ) -> CameraFormat.Size {
        CameraFormat.Size(
            smallest: smallest, largest: largest, widthStep: 1, heightStep: 1,
            rates: CameraFormat.Rates(listed: rates.compactMap { FrameRate($0, 1) }))
    }

    private static func formats() throws -> [CameraFormat] {
        let (small, middle, large) = (
            try #require(PictureSize(320, 240)), try #require(PictureSize(640, 480)),
            try #require(PictureSize(1920, 1080))
        )
        return [
            CameraFormat(
                pixelFormat: .yuyv, name: "",
                sizes: [size(small, small, rates: [30, 15]), size(middle, middle, rates: [15])]),
            CameraFormat(pixelFormat: .mjpeg, name: "", sizes: [size(small, large, rates: [60, 30])]),
            CameraFormat(pixelFormat: try #require(PixelFormat("zz99")), name: "", sizes: []),
        ]
    }

    @Test("offers each size once, and of a range the usual ones within")
    func sizes() throws {
        let formats = try Self.formats()
        #expect(FormatCompletion(formats).sizes == ["320x240", "640x480", "1280x720", "1920x1080"])
        #expect(FormatCompletion(formats, pixelFormat: .yuyv).sizes == ["320x240", "640x480"])
        #expect(FormatCompletion([]).sizes.contains("1280x720"))
    }

    @Test(
        "offers the properties of a rendition that it does not have yet, and their values where they are few")
    func renditions() {
        #expect(RenditionCompletion.candidates(for: "9983").isEmpty)
        let names = RenditionCompletion.candidates(for: "9983,fps=5,s")
        #expect(names.contains("9983,fps=5,size=") && !names.contains("9983,fps=5,fps="))
        #expect(names.count == 6)
        #expect(RenditionCompletion.candidates(for: "9983,codec=") == ["9983,codec=h264", "9983,codec=hevc"])
        #expect(RenditionCompletion.candidates(for: "9983,size=1").contains("9983,size=1280x720"))
        #expect(RenditionCompletion.candidates(for: "9983,bitrate=").isEmpty)
    }

    @Test("offers the rates of the chosen size and format, falling")
    func rates() throws {
        let formats = try Self.formats()
        #expect(FormatCompletion(formats).rates(at: nil) == ["60", "30", "15"])
        #expect(FormatCompletion(formats, pixelFormat: .yuyv).rates(at: PictureSize(640, 480)) == ["15"])
        #expect(FormatCompletion(formats).rates(at: PictureSize(1280, 720)) == ["60", "30"])
        #expect(FormatCompletion([]).rates(at: nil).isEmpty)
    }

    @Test("offers the formats that camrec reads")
    func formatNames() throws {
        #expect(FormatCompletion(try Self.formats()).names == ["YUYV", "MJPG"])
    }

    private static func control(
        _ name: String, _ kind: CameraControl.Kind, _ obstacle: CameraControl.Obstacle? = nil
    ) -> CameraControl {
        CameraControl(
            id: 1, name: name, title: name, kind: kind, defaultValue: nil, value: nil, obstacle: obstacle,
            isWide: false)
    }

    private static let controls = ControlCompletion([
        control("brightness", .integer(0...255, step: 1)),
        control("exposure", .menu([.init(index: 1, title: "Manual Mode"), .init(index: 3, title: "50")])),
        control("backlight", .boolean, .inactive), control("serial", .integer(0...9, step: 1), .readOnly),
        control("matrix", .compound),
    ])

    @Test("offers the controls that can be set and are not in the list yet")
    func controlNames() {
        #expect(Self.controls.candidates(for: "") == ["brightness=", "exposure=", "backlight="])
        #expect(
            Self.controls.candidates(for: "exposure=manual,b")
                == ["exposure=manual,brightness=", "exposure=manual,backlight="])
    }

    @Test("offers a control's values where they have names")
    func controlValues() {
        #expect(Self.controls.candidates(for: "exposure=") == ["exposure=manual_mode", "exposure=3"])
        #expect(
            Self.controls.candidates(for: "brightness=5,backlight=o")
                == ["brightness=5,backlight=off", "brightness=5,backlight=on"])
        #expect(Self.controls.candidates(for: "brightness=").isEmpty)
        #expect(Self.controls.candidates(for: "unknown=").isEmpty)
    }
}
