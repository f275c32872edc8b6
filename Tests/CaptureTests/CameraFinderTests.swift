import Pictures
import TestSupport
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
            identity, link: link, request: request,
            machine: .init(
                calls: machine, nodes: { [machine] in machine.paths },
                place: { [machine] in machine.places[$0] }))
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

    private func channel(_ index: Int) -> NodePlace { NodePlace(interface: nil, index: index, unit: nil) }

    private func webcam(port: String, serial: String?, interface: String = "1.0") -> NodePlace {
        NodePlace(interface: interface, index: 0, unit: .init(port: port, serial: serial))
    }

    @Test("of a grabber's channels, which look alike, the same is found again, and never another")
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

    @Test("without sysfs the old path comes first")
    func oldPath() throws {
        machine.devices["/dev/video3"] = ScriptedDevice()
        let (stream, finder) = try open("/dev/video3")
        stream.releaseDevice()
        #expect(try finder.open(continuing: stream.format).identity.device == "/dev/video3")
    }

    @Test("the infrared camera in the same case is another")
    func infrared() throws {
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a")
        let (stream, finder) = try open()
        machine.places["/dev/video0"] = webcam(port: "/sys/1-1", serial: "a", interface: "1.2")
        #expect(throws: CaptureError(.notFound, device: "/dev/video0")) {
            try finder.open(continuing: stream.format)
        }
    }

    /// The camera was taken out, and its link leads to one in another port: since then, or since before that.
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

    @Test("in another port it is found by its link, where its serial number is its own")
    func otherPort() throws {
        let former = webcam(port: "/sys/1-1", serial: "a")
        #expect(try moved(from: former, to: webcam(port: "/sys/2-2", serial: "a")) == .success("usb-2.2"))
    }

    @Test("another one in the same port, with a serial number of its own, is not taken for it")
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

    @Test("a camera of the same model is not taken for it", arguments: [nil, "b"])
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

    @Test("of two with one serial number, the other is not taken when one goes")
    func twins() throws {
        let (former, other) = (webcam(port: "/sys/1-1", serial: "1"), webcam(port: "/sys/2-2", serial: "1"))
        machine.places["/dev/video1"] = other
        machine.devices["/dev/video1"] = ScriptedDevice()
        let gone = CaptureError(.notFound, device: "/dev/video0")
        #expect(try moved(from: former, to: other) == .failure(gone))
    }

    @Test("a twin that was plugged in while it recorded is not taken when it goes")
    func lateTwin() throws {
        let (former, other) = (webcam(port: "/sys/1-1", serial: "1"), webcam(port: "/sys/2-2", serial: "1"))
        let gone = CaptureError(.notFound, device: "/dev/video0")
        #expect(try moved(from: former, to: other, isThereBefore: true) == .failure(gone))
    }

    @Test("one that was moved to another port is found there again when it fails, and has no twin by that")
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
        // It stands still, and is opened where it is; then without udev's link, too.
        _ = try finder.open(continuing: stream.format)
        machine.devices[link] = nil
        #expect(try finder.open(continuing: stream.format).identity.bus == "usb-2.2")
    }

    @Test("where the link went to its twin, the one in the old place is taken")
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

/// What is read of sysfs, from folders that look like it.
@Suite struct NodePlaceTests {
    /// A node's folder, and the device that it belongs to with these attributes.
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
