import CamPictures
import TestSupport
import Testing

@testable import Capture

/// A camera that was plugged in again, next to others.
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
            identity, link: link, request: request,
            machine: .init(
                calls: machine, nodes: { [machine] in machine.paths },
                place: { [machine] in machine.places[$0] }))
    }

    @Test("finds it under another number, by bus position and name, and not its neighbours")
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

    private func channel(_ index: Int) -> NodePlace { NodePlace(interface: nil, index: index, unit: nil) }

    private func webcam(port: String, serial: String?, interface: String = "1.0") -> NodePlace {
        NodePlace(interface: interface, index: 0, unit: .init(port: port, serial: serial))
    }

    @Test("finds the same one of a grabber's identical channels, never another")
    func channels() throws {
        let paths = (0..<4).map { "/dev/video\($0)" }
        for (index, path) in paths.enumerated() {
            machine.devices[path] = ScriptedDevice()
            machine.places[path] = channel(index)
        }
        let (stream, finder) = try open("/dev/video3")
        stream.releaseDevice()
        #expect(try finder.open(continuing: stream.format).identity.device == "/dev/video3")
        // Numbered from the other end.
        for (index, path) in paths.reversed().enumerated() { machine.places[path] = channel(index) }
        #expect(try finder.open(continuing: stream.format).identity.device == "/dev/video0")
        machine.places["/dev/video0"] = channel(5)
        #expect(throws: CaptureError(.notFound, device: "/dev/video3")) {
            try finder.open(continuing: stream.format)
        }
    }

    @Test("tries the old path first without sysfs")
    func oldPath() throws {
        machine.devices["/dev/video3"] = ScriptedDevice()
        let (stream, finder) = try open("/dev/video3")
        stream.releaseDevice()
        #expect(try finder.open(continuing: stream.format).identity.device == "/dev/video3")
    }

    @Test("does not confuse it with the infrared camera in the same case")
    func infrared() throws {
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a")
        let (stream, finder) = try open()
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a", interface: "1.2")
        #expect(throws: CaptureError(.notFound, device: "/dev/video0")) {
            try finder.open(continuing: stream.format)
        }
    }

    /// The camera was unplugged, and its link leads to one in another port: since then, or since before.
    private func moved(
        from former: NodePlace?, to now: NodePlace?, isThereBefore: Bool = false
    ) throws -> Result<String?, CaptureError> {
        let link = "/dev/v4l/by-id/usb-camera"
        machine.devices["/dev/video0"] = ScriptedDevice()
        machine.places["/dev/video0"] = former
        let stream = try open().stream
        let finder = finder(stream.identity, link: link)
        let other = ScriptedDevice()
        other.bus = "usb-2.2"
        if !isThereBefore {
            (machine.devices, machine.places) = ([:], [:])
            #expect(throws: CaptureError.self) { try finder.open(continuing: stream.format) }
        }
        machine.devices = ["/dev/video1": other, link: other]
        machine.places = ["/dev/video1": now, link: now].compactMapValues { $0 }
        do throws(CaptureError) {
            return .success(try finder.open(continuing: stream.format).identity.bus)
        } catch {
            return .failure(error)
        }
    }

    @Test("finds it in another port by its link, if its serial number is unique")
    func otherPort() throws {
        let former = webcam(port: "/sys/1-1", serial: "a")
        #expect(try moved(from: former, to: webcam(port: "/sys/2-2", serial: "a")) == .success("usb-2.2"))
    }

    @Test("does not take a camera with another serial number in the same port for it")
    func otherInPort() throws {
        machine.devices["/dev/video0"] = ScriptedDevice()
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a")
        let (stream, finder) = try open()
        stream.releaseDevice()
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "b")
        #expect(throws: CaptureError(.notFound, device: "/dev/video0")) {
            try finder.open(continuing: stream.format)
        }
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a")
        #expect(try finder.open(continuing: stream.format).identity.bus == stream.identity.bus)
    }

    @Test("does not take a camera of the same model for it", arguments: [nil, "b"])
    func sameModel(serial: String?) throws {
        let gone = CaptureError(.notFound, device: "/dev/video0")
        for former in [serial == nil ? nil : "a", nil] {
            #expect(
                try moved(
                    from: webcam(port: "/sys/1-1", serial: former),
                    to: webcam(port: "/sys/2-2", serial: serial)) == .failure(gone))
        }
        #expect(try moved(from: nil, to: nil) == .failure(gone))
    }

    @Test("does not take the other of two with one serial number when it disconnects")
    func twins() throws {
        let (former, other) = (webcam(port: "/sys/1-1", serial: "1"), webcam(port: "/sys/2-2", serial: "1"))
        machine.places["/dev/video1"] = other
        machine.devices["/dev/video1"] = ScriptedDevice()
        let gone = CaptureError(.notFound, device: "/dev/video0")
        #expect(try moved(from: former, to: other) == .failure(gone))
    }

    @Test("does not take a twin plugged in during the recording when it disconnects")
    func lateTwin() throws {
        let (former, other) = (webcam(port: "/sys/1-1", serial: "1"), webcam(port: "/sys/2-2", serial: "1"))
        let gone = CaptureError(.notFound, device: "/dev/video0")
        #expect(try moved(from: former, to: other, isThereBefore: true) == .failure(gone))
    }

    @Test("finds one that was moved to another port when it fails, and does not count it as a twin")
    func movedTwice() throws {
        let link = "/dev/v4l/by-id/usb-camera"
        let moved = webcam(port: "/sys/2-2", serial: "a")
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a")
        let stream = try open().stream
        let finder = finder(stream.identity, link: link)
        (machine.devices, machine.places) = ([:], [:])
        #expect(throws: CaptureError.self) { try finder.open(continuing: stream.format) }
        let camera = ScriptedDevice()
        camera.bus = "usb-2.2"
        machine.devices = ["/dev/video1": camera, link: camera]
        machine.places = ["/dev/video1": moved, link: moved]
        _ = try finder.open(continuing: stream.format)
        // It freezes and is reopened in place; then the same without udev's link.
        _ = try finder.open(continuing: stream.format)
        machine.devices[link] = nil
        #expect(try finder.open(continuing: stream.format).identity.bus == "usb-2.2")
    }

    @Test("takes the one in the old place if the link moved to its twin")
    func stolenLink() throws {
        let link = "/dev/v4l/by-id/usb-camera"
        let stream = try open().stream
        let twin = ScriptedDevice()
        twin.bus = "usb-2.2"
        machine.devices = ["/dev/video2": ScriptedDevice(), link: twin]
        let again = try finder(stream.identity, link: link).open(continuing: stream.format)
        #expect(again.identity.device == "/dev/video2")
        #expect(again.identity.bus == stream.identity.bus)
    }

    @Test("does not find a missing camera, and reports a node that may not be opened yet")
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

    @Test("requests what it had, and then keeps the same format object")
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

    @Test("a node whose writer returned with another size has that size")
    func otherSize() throws {
        let (stream, finder) = try open("/dev/video0", CaptureRequest(pixelFormat: .yuyv))
        stream.releaseDevice()
        machine.devices = [:]
        #expect(throws: CaptureError.self) { try finder.open(continuing: stream.format) }
        // v4l2loopback offers its writer's size alone.
        let other = ScriptedDevice()
        other.formats = [.init(pixelFormat: .yuyv, sizes: [(320, 240)])]
        (other.strides, other.lengths) = ([640], [320 * 240 * 2])
        machine.devices = ["/dev/video0": other]
        let again = try finder.open(continuing: stream.format)
        #expect(again.format.size == PictureSize(320, 240))
        #expect(again.format !== stream.format)
    }

    @Test("accepts a camera without the old format, unless that format was requested")
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

/// Reading sysfs, from folders that imitate it.
@Suite struct NodePlaceTests {
    /// A node's folder, and the device with these attributes that it belongs to.
    private func tree(device: String, index: String?, port: [String: String] = [:]) throws -> TemporaryFolder
    {
        let folder = TemporaryFolder()
        try folder.makeFolder("node")
        try folder.makeFolder(device)
        try folder.link("node/device", to: "../\(device)")
        if let index { folder.write("node/index", "\(index)\n") }
        for (name, value) in port { folder.write("1-1/\(name)", "\(value)\n") }
        return folder
    }

    @Test("a USB camera has its interface, its port and its serial number")
    func usb() throws {
        let facts = ["idVendor": "046d", "idProduct": "0825", "serial": "5F2A"]
        let folder = try tree(device: "1-1/1-1:1.2", index: "0", port: facts)
        let place = try #require(NodePlace.find(inFolder: "\(folder.path)/node"))
        #expect(place.interface == "1.2" && place.index == 0)
        #expect(place.unit?.serial == "046d:0825:5F2A")
        #expect(place.unit?.port.hasSuffix("/1-1") == true)
    }

    @Test("one without a serial number has none")
    func noSerial() throws {
        let folder = try tree(
            device: "1-1/1-1:1.0", index: "0", port: ["idVendor": "046d", "idProduct": "0825"])
        let place = try #require(NodePlace.find(inFolder: "\(folder.path)/node"))
        #expect(place.unit != nil && place.unit?.serial == nil)
    }

    @Test("a card's channels have their numbers; a node without them has no place")
    func card() throws {
        let card = try tree(device: "0000:03:00.0", index: "3")
        #expect(
            NodePlace.find(inFolder: "\(card.path)/node") == NodePlace(interface: nil, index: 3, unit: nil))
        let bare = try tree(device: "virtual", index: nil)
        #expect(NodePlace.find(inFolder: "\(bare.path)/node") == nil)
        #expect(NodePlace.find("/dev/null") == nil)
        #expect(NodePlace.find("/dev/nothing") == nil)
    }
}
