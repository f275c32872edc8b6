import CV4L2
import Glibc
import CamPictures
import Testing
import CamPlatform

@testable import Capture

/// Memory that a camera shares with another device, which reads its pictures.
@Suite struct SharedBuffersTests {
    private static let pictureLength = 640 * 480 * 3 / 2

    /// A camera of NV12.
    private static func device(_ events: [ScriptedDevice.Event] = []) -> ScriptedDevice {
        let device = ScriptedDevice(events)
        device.formats = [ScriptedDevice.Format(pixelFormat: .nv12)]
        device.strides = [640]
        device.lengths = [UInt32(pictureLength)]
        device.grantedBuffers = 14
        return device
    }

    private func stream(_ device: ScriptedDevice, _ reader: TestReader) throws -> CameraStream {
        let stream = try device.camera().makeStream(CaptureRequest(), sharing: reader)
        try stream.start()
        return stream
    }

    @Test("a camera writes into the reader's memory")
    func imported() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 0x5a))])
        device.importsMemory = true
        let reader = TestReader(length: Self.pictureLength + 4096)
        let stream = try stream(device, reader)
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isReaders = buffer.shared?.memory === reader.buffers[0]
        #expect(isReaders && buffer.shared?.offset == 0)
        let isFilled = buffer.plane(0).allSatisfy { $0 == 0x5a } && buffer.plane(1).count == 640 * 240
        #expect(isFilled, "the processor sees it when it looks")
        #expect(device.requests.map(\.memory) == [V4L2_MEMORY_DMABUF])
        #expect(device.requests[0].count == 14 && stream.bufferCount == 10, "four are for the reader")
    }

    @Test("so does a multi-planar camera, whose planes have the descriptors")
    func multiPlanar() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 0x2b))])
        device.isMultiPlanar = true
        device.capabilities = UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE) | UInt32(V4L2_CAP_STREAMING)
        device.importsMemory = true
        let reader = TestReader(length: Self.pictureLength)
        let stream = try stream(device, reader)
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isReaders = buffer.shared?.memory === reader.buffers[0]
        let isFilled = buffer.plane(1).allSatisfy { $0 == 0x2b }
        #expect(isReaders && isFilled)
    }

    @Test(
        "a driver that grants too few buffers for a reader, or more than there are, maps its own",
        arguments: [6, 15])
    func grantedCount(_ count: UInt32) throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 6))])
        (device.importsMemory, device.exportsMemory, device.grantedBuffers) = (true, true, count)
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isFilled = buffer.plane(0).allSatisfy { $0 == 6 }
        #expect(buffer.shared == nil && isFilled && stream.bufferCount == Int(count))
        let counts = device.requests.map(\.count)
        #expect(counts == [14, 0, 14, 0, 10])
    }

    @Test("memory that the processor cannot see is not used: its pictures would look black")
    func invisible() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 6))])
        device.importsMemory = true
        let reader = TestReader(length: Self.pictureLength)
        reader.areVisible = false
        let stream = try stream(device, reader)
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isFilled = buffer.plane(0).allSatisfy { $0 == 6 }
        #expect(buffer.shared == nil && isFilled)
    }

    @Test("a camera that does not stream into a reader's memory streams into its own")
    func streamFailure() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 5))])
        (device.importsMemory, device.importedStreamFailure) = (true, ENOMEM)
        let reader = TestReader(length: Self.pictureLength)
        let stream = try stream(device, reader)
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isFilled = buffer.plane(0).allSatisfy { $0 == 5 }
        #expect(buffer.shared == nil && isFilled)
        #expect(reader.refusal?.contains("VIDIOC_STREAMON failed") == true)
    }

    @Test(
        "a camera that delivers nothing usable into a reader's memory gets its own", arguments: [false, true])
    func silence(isOpenedAgain: Bool) throws {
        let damaged = ScriptedDevice.Frame(
            flags: UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) | UInt32(V4L2_BUF_FLAG_ERROR))
        let device = Self.device([.frame(damaged), .frame(damaged), .silence])
        device.importsMemory = true
        let reader = TestReader(length: Self.pictureLength)
        var stream = try stream(device, reader)
        #expect(throws: CaptureError.self) { try stream.hold() }
        #expect(reader.refusal?.contains("no usable frame") == true)
        device.events = [.frame(ScriptedDevice.Frame(fill: 4))]
        if isOpenedAgain {
            stream.releaseDevice()
            stream = try self.stream(device, reader)
        } else {
            try stream.restart()
        }
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isFilled = buffer.plane(0).allSatisfy { $0 == 4 }
        #expect(buffer.shared == nil && isFilled)
    }

    @Test("a camera that is lost, or falls silent later, shares again", arguments: [false, true])
    func laterFailure(hasDelivered: Bool) throws {
        let device = Self.device(
            hasDelivered ? [.frame(ScriptedDevice.Frame()), .silence] : [.dequeueFails(ENODEV)])
        device.importsMemory = true
        let reader = TestReader(length: Self.pictureLength)
        let stream = try stream(device, reader)
        if hasDelivered { try stream.hold().letGo() }
        #expect(throws: CaptureError.self) { try stream.hold() }
        #expect(reader.refusal == nil)
    }

    @Test("a camera whose reader gives up writes into its own memory, and loses no picture that has come")
    func readerGivesUp() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 3)), .silence])
        device.importsMemory = true
        let reader = TestReader(length: Self.pictureLength)
        let stream = try stream(device, reader)
        guard case .buffer(let earlier) = try stream.nextBuffer() else { throw StreamEnded() }
        reader.giveUp("for the test")
        let error = #expect(throws: CaptureError.self) { try stream.hold() }
        #expect(error?.kind == .sharingEnded && error?.recovery == .restartStream)
        device.events = [.frame(ScriptedDevice.Frame(fill: 4))]
        try stream.restart()
        guard case .buffer(let later) = try stream.nextBuffer() else { throw StreamEnded() }
        let areFilled = (earlier.plane(0).allSatisfy { $0 == 3 }, later.plane(0).allSatisfy { $0 == 4 })
        #expect(areFilled == (true, true) && later.shared == nil)
        #expect(device.requests.map(\.memory) == [V4L2_MEMORY_DMABUF, V4L2_MEMORY_MMAP])
    }

    @Test("a camera that shares its own memory keeps it when its reader gives up")
    func readerOfOwnMemoryGivesUp() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame()), .frame(ScriptedDevice.Frame(fill: 4))])
        device.exportsMemory = true
        let reader = TestReader(length: nil)
        let stream = try stream(device, reader)
        try stream.hold().letGo()
        reader.giveUp("for the test")
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let isFilled = buffer.plane(0).allSatisfy { $0 == 4 }
        #expect(isFilled && device.requests.count == 1)
    }

    @Test("a camera that takes no other memory shares its own", arguments: [false, true])
    func exported(refusesWhenItSeesIt: Bool) throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 7))])
        (device.importsMemory, device.exportsMemory) = (refusesWhenItSeesIt, true)
        device.importFailure = refusesWhenItSeesIt ? EFAULT : nil
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        #expect(buffer.shared != nil && buffer.shared?.memory.owner == nil)
        let isFilled = buffer.plane(0).allSatisfy { $0 == 7 }
        #expect(isFilled)
        let counts = device.requests.map(\.count)
        #expect(counts == [14, 0, 14], "one memory is given up before the other is requested")
        #expect(device.requests.last?.memory == V4L2_MEMORY_MMAP)
    }

    @Test("a camera whose layout is another shares its own memory, or maps it", arguments: [false, true])
    func withoutReadersMemory(exports: Bool) throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 9))])
        device.exportsMemory = exports
        let stream = try stream(device, TestReader(length: nil))
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        #expect((buffer.shared != nil) == exports)
        let isFilled = buffer.plane(0).allSatisfy { $0 == 9 }
        #expect(isFilled)
        #expect(device.requests.last?.count == (exports ? 14 : 10))
    }

    @Test("nothing is shared in a format that the reader does not read, or in several memory planes")
    func notRead() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame())])
        (device.importsMemory, device.exportsMemory) = (true, true)
        let reader = TestReader(length: Self.pictureLength)
        reader.readsFormat = false
        guard case .buffer(let buffer) = try stream(device, reader).nextBuffer() else { throw StreamEnded() }
        #expect(buffer.shared == nil && reader.buffers.isEmpty)

        let multiPlanar = ScriptedDevice.multiPlanar()
        multiPlanar.events = [.frame(ScriptedDevice.Frame())]
        (multiPlanar.importsMemory, multiPlanar.exportsMemory) = (true, true)
        let other = try stream(multiPlanar, TestReader(length: Self.pictureLength))
        guard case .buffer(let picture) = try other.nextBuffer() else { throw StreamEnded() }
        #expect(picture.shared == nil)
    }

    @Test("a buffer goes back to the camera when its last owner is done with it")
    func owners() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame()), .frame(ScriptedDevice.Frame())])
        device.importsMemory = true
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        let held = try stream.hold()
        let claim = held.retain()
        held.letGo()
        _ = try stream.hold()
        let before = device.queueings.filter { $0 == 0 }.count
        #expect(before == 1, "the reader still has it")
        claim.giveBack()
        device.events = [.frame(ScriptedDevice.Frame())]
        _ = try stream.hold()
        #expect(device.queueings.filter { $0 == 0 }.count == 2)
    }

    @Test("the processor sees a picture only while it looks, once it need not look at each")
    func views() throws {
        let device = Self.device(Array(repeating: .frame(ScriptedDevice.Frame(index: 0, fill: 3)), count: 4))
        device.importsMemory = true
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        var address: UnsafeRawPointer?
        do {
            guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
            address = buffer.plane(0).baseAddress
        }
        #expect(try TestMemory.isMapped(at: address), "mapping it for each picture would be slow")
        do {
            guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
            buffer.keepMapped(false)
            let isFilled = buffer.plane(0).allSatisfy { $0 == 3 }
            #expect(isFilled)
        }
        #expect(try !TestMemory.isMapped(at: address))
        do {
            guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
            #expect(try !TestMemory.isMapped(at: address))
            let isFilled = buffer.plane(1).allSatisfy { $0 == 3 }
            #expect(isFilled && buffer.plane(0).baseAddress == address, "at the same address")
            buffer.keepMapped(true)
        }
        #expect(try TestMemory.isMapped(at: address))
    }

    @Test("a thread that was given up may read on: its buffer stays mapped, and comes back once")
    func givenUp() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(index: 0, fill: 3)), .silence])
        device.importsMemory = true
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        guard case .buffer(let buffer) = try stream.nextBuffer() else { throw StreamEnded() }
        let address = buffer.plane(0).baseAddress
        buffer.keepMapped(false)
        buffer.claim.giveBack()
        #expect(try TestMemory.isMapped(at: address))
        #expect(throws: CaptureError.self) { try stream.hold() }
        _ = consume buffer
        device.events = [.silence]
        #expect(throws: CaptureError.self) { try stream.hold() }
        #expect(device.queueings.filter { $0 == 0 }.count == 2)
    }

    @Test("a camera that is gone need not wait for pictures that are being read")
    func release() throws {
        let device = Self.device([.frame(ScriptedDevice.Frame(fill: 8))])
        device.importsMemory = true
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        let held = try stream.hold()
        #expect(stream.awaitBuffers(until: device.now))
        stream.releaseDevice()
        #expect(held.byte(ofPlane: 0, row: 479, column: 639) == 8, "the memory is not the camera's")
    }

    @Test("a driver that claims more than the memory has is not believed")
    func hostileLength() throws {
        let device = Self.device([
            .frame(ScriptedDevice.Frame(bytesUsed: UInt32(Self.pictureLength) + 4097)),
            .frame(ScriptedDevice.Frame(bytesUsed: 10)), .frame(ScriptedDevice.Frame(fill: 1)),
        ])
        device.importsMemory = true
        let stream = try stream(device, TestReader(length: Self.pictureLength))
        let held = try stream.hold()
        #expect(stream.losses.corrupt == 2 && held.byte(ofPlane: 0, row: 0, column: 0) == 1)
    }
}
