import Testing

@testable import Capture

/// A camera that was plugged in again, and others beside it.
@Suite struct CameraFinderTests {
    private let machine = ScriptedMachine(["/dev/video0": ScriptedDevice()])

    private func open(
        _ path: String = "/dev/video0", _ request: CaptureRequest = CaptureRequest()
    ) throws -> (stream: CameraStream, finder: CameraFinder) {
        let stream = try Camera(path: path, calls: machine).makeStream(request)
        return (stream, finder(stream.identity, request))
    }

    private func finder(
        _ identity: SourceIdentity, _ request: CaptureRequest = CaptureRequest(), link: String? = nil
    ) -> CameraFinder {
        CameraFinder(
            identity, link: link, request: request, calls: machine, nodes: { [machine] in machine.paths },
            stableLink: { [machine] in machine.links[$0] })
    }

    @Test("it is found under another number, by its bus position and name, not taken for its neighbours")
    func otherNumber() throws {
        let (stream, finder) = try open()
        stream.releaseDevice()
        let (metadata, neighbour, other) = (ScriptedDevice(), ScriptedDevice(), ScriptedDevice())
        metadata.capabilities = 0x0080_0000
        neighbour.bus = "usb-1.3"
        other.card = "Another Camera"
        machine.devices = [
            "/dev/video0": neighbour, "/dev/video1": other, "/dev/video2": metadata,
            "/dev/video3": ScriptedDevice(),
        ]
        let again = try finder.open(continuing: stream.format)
        #expect(again.identity.device == "/dev/video3")
        #expect(machine.openDescriptors.count == 1)
    }

    @Test("by its link it is found wherever the link leads")
    func byLink() throws {
        let link = "/dev/v4l/by-id/usb-camera"
        let stream = try open().stream
        let moved = ScriptedDevice()
        moved.bus = "usb-2.2"
        machine.devices = ["/dev/video0": ScriptedDevice(), link: moved]
        machine.links = ["/dev/video0": "/dev/v4l/by-id/usb-other"]
        let again = try finder(stream.identity, link: link).open(continuing: stream.format)
        #expect(again.identity.device == link)
        #expect(again.identity.bus == "usb-2.2")
    }

    @Test("where the link went to a camera with the same serial number, the one in the old place is taken")
    func twins() throws {
        let link = "/dev/v4l/by-id/usb-camera"
        let stream = try open().stream
        let twin = ScriptedDevice()
        twin.bus = "usb-2.2"
        machine.devices = ["/dev/video2": ScriptedDevice(), link: twin]
        let again = try finder(stream.identity, link: link).open(continuing: stream.format)
        #expect(again.identity.device == "/dev/video2")
        #expect(again.identity.bus == stream.identity.bus)
    }

    @Test("while it is away it is not found, and where its node may not be opened yet, that is said")
    func away() throws {
        let (stream, finder) = try open()
        machine.devices = [:]
        #expect(throws: CaptureError(.notFound, device: "/dev/video0")) {
            try finder.open(continuing: stream.format)
        }
        machine.devices = ["/dev/video0": ScriptedDevice()]
        machine.forbidden = ["/dev/video0"]
        #expect(throws: CaptureError(.permissionDenied(group: nil), device: "/dev/video0")) {
            try finder.open(continuing: stream.format)
        }
    }

    @Test("what it is asked for is what it had, and then the format is the same object")
    func sameFormat() throws {
        let camera = ScriptedDevice()
        camera.formats = [
            .init(pixelFormat: .yuyv, sizes: [(640, 480), (320, 240)], intervals: [(1, 30), (1, 15)])
        ]
        machine.devices = ["/dev/video0": camera]
        let (stream, finder) = try open(
            "/dev/video0", CaptureRequest(size: PictureSize(640, 480), frameRate: FrameRate(15)))
        stream.releaseDevice()
        let again = try finder.open(continuing: stream.format)
        #expect(again.format === stream.format)
        #expect(again.format.frameRate == FrameRate(15))
    }

    @Test("a camera that has the format no more is taken as it is, unless the format was a condition")
    func otherFormat() throws {
        let (stream, finder) = try open()
        let strict = self.finder(stream.identity, CaptureRequest(pixelFormat: .yuyv))
        stream.releaseDevice()
        let changed = ScriptedDevice()
        changed.formats = [.init(pixelFormat: .mjpeg, sizes: [(800, 600)])]
        changed.strides = [0]
        machine.devices = ["/dev/video0": changed]
        let again = try finder.open(continuing: stream.format)
        #expect(again.format.pixelFormat == .mjpeg)
        #expect(again.format.size == PictureSize(800, 600))
        #expect(throws: CaptureError.self) { try strict.open(continuing: stream.format) }
    }
}
