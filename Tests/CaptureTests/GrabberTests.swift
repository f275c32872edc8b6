import CV4L2
import Testing

@testable import Capture

/// Analogue grabbers: fields, inputs and television standards.
@Suite struct GrabberTests {
    private func grabber(_ fields: [v4l2_field] = [V4L2_FIELD_INTERLACED]) -> ScriptedDevice {
        let device = ScriptedDevice()
        device.fields = fields
        device.inputs = ["Composite 1", "S-Video"]
        device.standards = [("NTSC", 0xb000), ("PAL", 0xff), ("PAL-BG", 0x07)]
        return device
    }

    // MARK: Fields

    @Test("uses interlaced fields if the driver has them")
    func woven() throws {
        for others in [[], [V4L2_FIELD_ALTERNATE], [V4L2_FIELD_SEQ_TB], [V4L2_FIELD_TOP]] {
            let format = try grabber(others + [V4L2_FIELD_INTERLACED]).stream().format
            #expect(format.isInterlaced && format.firstField == nil)
        }
    }

    @Test("otherwise both fields in one buffer, with a known first one")
    func sequential() throws {
        for others in [[], [V4L2_FIELD_ALTERNATE], [V4L2_FIELD_BOTTOM]] {
            let format = try grabber(others + [V4L2_FIELD_SEQ_TB]).stream().format
            #expect(format.isInterlaced && format.firstField == .top)
        }
        #expect(try grabber([V4L2_FIELD_SEQ_BT]).stream().format.firstField == .bottom)
    }

    @Test("refuses separate fields, with the reason")
    func alternate() {
        let reason = "it delivers the fields of a picture separately; choose another --input or --size"
        #expect(grabber([V4L2_FIELD_ALTERNATE]).failure() == .unsupported(reason))
    }

    @Test("treats a single field as a picture without fields")
    func single() throws {
        let format = try grabber([V4L2_FIELD_TOP]).stream().format
        #expect(!format.isInterlaced && format.firstField == nil)
    }

    @Test("refuses fields that the format does not have whole")
    func odd() {
        let device = grabber([V4L2_FIELD_SEQ_TB])
        device.formats = [.init(pixelFormat: .mjpeg)]
        guard case .unsupported(let reason)? = device.failure() else {
            Issue.record("taken")
            return
        }
        #expect(reason.contains("cannot be interleaved"))
    }

    // MARK: Inputs

    @Test(
        "selects an input by number or name, a standard by name", arguments: ["1", "s-video"])
    func chosen(input: String) throws {
        let device = grabber()
        var request = CaptureRequest()
        (request.input, request.standard) = (input, "pal")
        _ = try device.stream(request)
        #expect(device.input == 1)
        #expect(device.standard == 0xff)
        let (inputs, current) = try device.camera().inputs
        #expect(inputs.map(\.name) == ["Composite 1", "S-Video"] && current == 1)
        let (standards, set) = try device.camera().standards
        #expect(standards.map(\.name) == ["NTSC", "PAL", "PAL-BG"] && set?.name == "PAL")
    }

    @Test("refuses unknown ones and lists what there is")
    func missing() {
        func failure(_ device: ScriptedDevice, _ input: String?, _ standard: String?) -> CaptureError.Kind? {
            var request = CaptureRequest()
            (request.input, request.standard) = (input, standard)
            return device.failure(request)
        }
        #expect(
            failure(grabber(), "2", nil)
                == .unsupported("it has no input '2', only 0 (Composite 1), 1 (S-Video)"))
        #expect(
            failure(grabber(), nil, "SECAM")
                == .unsupported("it has no standard 'SECAM', only NTSC, PAL, PAL-BG"))
        let webcam = ScriptedDevice()
        #expect(
            failure(webcam, "1", nil) == .unsupported("it has no inputs to choose from; leave out --input"))
        #expect(
            failure(webcam, nil, "PAL")
                == .unsupported("its input has no television standards; leave out --standard"))
    }

    @Test("test pictures have neither")
    func testSource() {
        var request = CaptureRequest()
        request.input = "1"
        #expect(throws: CaptureError.self) { try CaptureSource.open("test", request: request) }
        (request.input, request.standard) = (nil, "PAL")
        #expect(throws: CaptureError.self) { try CaptureSource.open("test", request: request) }
    }
}
