import CV4L2
import Glibc
import Testing
import CamPlatform

@testable import Capture

/// How a running camera stream handles a driver's good and bad answers.
@Suite struct CameraStreamTests {
    typealias Frame = ScriptedDevice.Frame

    private static let second: Int64 = 1_000_000_000

    // MARK: Pictures

    @Test("pictures carry the driver's number, timestamp and bytes")
    func delivers() throws {
        let device = ScriptedDevice([.frame(Frame(sequence: 7, seconds: 1000, fill: 0x5a))])
        let picture = try device.stream().hold()
        #expect(picture.sequence == 7)
        #expect(picture.timestamp == .start + .milliseconds(1_000_033))
        #expect(picture.rows(ofPlane: 0) == Array(repeating: Array(repeating: 0x5a, count: 1280), count: 480))
    }

    @Test("each plane of a multi-planar picture starts at its own data_offset")
    func multiPlanar() throws {
        let device = ScriptedDevice.multiPlanar()
        device.bufferLengths = [704 * 480 + 64, 704 * 240 + 64] as [UInt32]
        device.events = [.frame(Frame(dataOffset: 64, fill: 10))]
        let picture = try device.stream().hold()
        #expect(picture.rows(ofPlane: 0) == Array(repeating: Array(repeating: 10, count: 640), count: 480))
        #expect(picture.rows(ofPlane: 1) == Array(repeating: Array(repeating: 11, count: 640), count: 240))
    }

    @Test("replaces a clock that is not monotonic by the time of arrival")
    func foreignClock() throws {
        let device = ScriptedDevice([.frame(Frame(flags: 0, seconds: 12))])
        let picture = try device.stream().hold()
        #expect(picture.timestamp == device.now)
    }

    @Test(
        "replaces a timestamp that no clock can show by the time of arrival",
        arguments: [Int.max, Int.min, -1])
    func impossibleTimestamp(seconds: Int) throws {
        let device = ScriptedDevice([.frame(Frame(seconds: seconds))])
        let picture = try device.stream().hold()
        #expect(picture.timestamp == device.now)
    }

    @Test(
        "replaces a time from before the stream or from the future by the time of arrival",
        arguments: [-61, -59, -1, 1, 59, 61])
    func clockThatIsOff(seconds: Int) throws {
        let device = ScriptedDevice()
        let now = Int(device.now.nanoseconds / Self.second)
        device.events = [.frame(Frame(seconds: now + seconds))]
        let picture = try device.stream().hold()
        #expect(picture.timestamp == device.now)
    }

    @Test("counts times that stand still or go back, and replaces them")
    func wrongTimes() throws {
        let device = ScriptedDevice()
        let now = Int(device.now.nanoseconds / Self.second)
        let stream = try device.stream()
        device.events = Array(repeating: .frame(Frame()), count: 31)
        device.events += Array(repeating: .frame(Frame(seconds: now - 10)), count: 5)
        var last = Instant.distantPast
        for _ in 0..<36 {
            let picture = try stream.hold()
            #expect(picture.timestamp > last && (device.now - picture.timestamp).magnitude < .milliseconds(2))
            last = picture.timestamp
            picture.letGo()
        }
        #expect(stream.losses.correctedTimes == 5)
        #expect(stream.losses.timeJump.map { ($0 - .seconds(-11)).magnitude < .seconds(1) } == true)
        #expect(!stream.losses.haveTimesStood)
    }

    @Test("a stream that starts again corrects a wrong clock from its first picture on")
    func newTimes() throws {
        let device = ScriptedDevice()
        let now = Int(device.now.nanoseconds / Self.second)
        let stream = try device.stream()
        device.events = [.frame(Frame()), .frame(Frame()), .frame(Frame(seconds: now - 10))]
        #expect(try stream.nextSequence() == 0)
        #expect(try stream.nextSequence() == 1)
        try stream.restart()
        let picture = try stream.hold()
        #expect((device.now - picture.timestamp).magnitude < .milliseconds(2))
        #expect(stream.losses.correctedTimes == 1)
    }

    // MARK: Buffers

    @Test("queues every buffer before streaming starts")
    func queuesAll() throws {
        let device = ScriptedDevice()
        let stream = try device.stream()
        #expect(stream.bufferCount == 6)
        #expect(device.queued == [0, 1, 2, 3, 4, 5])
        #expect(device.isStreaming)
    }

    @Test("requeues a picture when it is destroyed")
    func requeues() throws {
        let device = ScriptedDevice(Array(repeating: .frame(Frame()), count: 20))
        let stream = try device.stream()
        for sequence in 0..<UInt32(20) { #expect(try stream.nextSequence() == sequence) }
        #expect(device.queueings.count == 6 + 19)
        #expect(device.queueings.suffix(6) == [1, 2, 3, 4, 5, 0])
    }

    @Test("keeps held pictures away from the driver")
    func held() throws {
        let device = ScriptedDevice(Array(repeating: .frame(Frame()), count: 4))
        let stream = try device.stream()
        let first = try stream.hold()
        let second = try stream.hold()
        #expect(try stream.nextSequence() == 2)
        #expect(Set(device.queued) == [3, 4, 5])
        first.letGo()
        let third = try stream.hold()
        #expect(Set(device.queued) == [0, 2, 4, 5])
        withExtendedLifetime((second, third)) {}
    }

    @Test("a picture outlives its stream: it stays readable, and touches no later stream")
    func outlives() throws {
        let device = ScriptedDevice([.frame(Frame(fill: 0x77))])
        var stream: CameraStream? = try device.stream()
        let picture = try stream!.hold()
        stream?.stop()
        stream = nil
        #expect(device.closeCount == 1)

        let next = ScriptedDevice([.frame(Frame(fill: 0x11))])
        let nextStream = try next.stream()
        #expect(picture.rows(ofPlane: 0)[479] == Array(repeating: 0x77, count: 1280))
        let queueings = device.queueings
        picture.letGo()
        #expect(try nextStream.nextSequence() == 0)
        #expect(device.queueings == queueings)
        #expect(next.queueings == [0, 1, 2, 3, 4, 5])
    }

    @Test("does not count silence while every buffer is held, and then restarts the time")
    func allHeld() throws {
        let device = ScriptedDevice()
        device.grantedBuffers = 3
        let stream = try device.stream()
        device.events = Array(repeating: .frame(Frame()), count: 3)
        let pictures = try (0..<3).map { _ in try stream.hold() }
        device.events = [
            .perform {
                device.pass(.seconds(60))
                pictures[1].letGo()
            },
            .frame(Frame()),
        ]
        #expect(try stream.nextSequence() == 3)
        withExtendedLifetime(pictures) {}
    }

    // MARK: Losses

    @Test("skips, counts and requeues a flagged frame")
    func flagged() throws {
        let device = ScriptedDevice([
            .frame(Frame(flags: UInt32(V4L2_BUF_FLAG_ERROR))), .frame(Frame()),
        ])
        let stream = try device.stream()
        #expect(try stream.nextSequence() == 1)
        #expect(stream.losses.corrupt == 1)
        #expect(stream.losses.droppedByDriver == 0)
        #expect(device.queueings == [0, 1, 2, 3, 4, 5, 0])
    }

    @Test(
        "skips, counts and requeues a frame that is short, empty or longer than its buffer",
        arguments: [0, 1, 1280 * 480 - 1, 1280 * 480 + 1, UInt32.max] as [UInt32])
    func wrongLength(bytesUsed: UInt32) throws {
        let device = ScriptedDevice([.frame(Frame(bytesUsed: bytesUsed)), .frame(Frame())])
        let stream = try device.stream()
        #expect(try stream.nextSequence() == 1)
        #expect(stream.losses.corrupt == 1)
        #expect(device.queueings.count == 7)
    }

    @Test(
        "a data_offset beyond the data or the buffer makes a frame corrupt",
        arguments: [1, 704 * 240, UInt32.max / 2] as [UInt32])
    func wrongOffset(offset: UInt32) throws {
        let device = ScriptedDevice.multiPlanar()
        device.events = [.frame(Frame(bytesUsed: 704 * 240, dataOffset: offset)), .frame(Frame())]
        let stream = try device.stream()
        #expect(try stream.nextSequence() == 1)
        #expect(stream.losses.corrupt == 1)
    }

    @Test("an empty JPEG is corrupt, one byte is left to the decoder")
    func emptyJPEG() throws {
        let device = ScriptedDevice([.frame(Frame(bytesUsed: 0)), .frame(Frame(bytesUsed: 1, fill: 9))])
        device.formats = [.init(pixelFormat: .mjpeg)]
        device.strides = [0]
        let stream = try device.stream()
        #expect(try stream.hold().payload == [9])
        #expect(stream.losses.corrupt == 1)
    }

    @Test(
        "counts gaps in the driver's numbers, from 0 and across a wrap, but not numbers that go back",
        arguments: [
            ([0, 1, 2], 0), ([5, 6, 7], 5), ([5000, 5001], 0), ([0, 3, 4, 6], 3), ([UInt32.max - 1, 1], 2),
            ([UInt32.max, 0], 0), ([10, 0, 1], 0), ([10, 3, 5], 1), ([4, 4, 5], 4),
            ([0, 61, 62, 64], 1),
        ] as [([UInt32], Int)])
    func gaps(sequences: [UInt32], lost: Int) throws {
        let device = ScriptedDevice(sequences.map { .frame(Frame(sequence: $0)) })
        let stream = try device.stream()
        for sequence in sequences { #expect(try stream.nextSequence() == sequence) }
        #expect(stream.losses.droppedByDriver == lost)
    }

    @Test("counts frames lost while nobody was reading, even if all kept ones arrive at once")
    func lostWhileBusy() throws {
        let device = ScriptedDevice()
        let stream = try device.stream()
        device.events = [.perform { device.pass(.seconds(2)) }]
        device.events += [0, 1, 2, 3, 4, 5, 57].map { .frame(Frame(sequence: $0)) }
        for sequence in [0, 1, 2, 3, 4, 5, 57] as [UInt32] {
            #expect(try stream.nextSequence() == sequence)
        }
        #expect(stream.losses.droppedByDriver == 51)
    }

    @Test("captured and dropped frames add up to the camera's numbers")
    func adds() throws {
        let error = UInt32(V4L2_BUF_FLAG_ERROR)
        let device = ScriptedDevice([
            .frame(Frame(sequence: 0)), .frame(Frame(sequence: 2, flags: error)),
            .frame(Frame(sequence: 3, bytesUsed: 5)), .frame(Frame(sequence: 9)),
        ])
        let stream = try device.stream()
        #expect(try stream.nextSequence() == 0)
        #expect(try stream.nextSequence() == 9)
        #expect(2 + stream.losses.corrupt + stream.losses.droppedByDriver == 10)
    }

    // MARK: Failures

    @Test("reports an unplugged camera as lost, whichever call notices", arguments: [ENODEV, ENXIO])
    func unplugged(code: Int32) {
        #expect(ScriptedDevice([.frame(Frame()), .dequeueFails(code)]).failure() == .lost)
        #expect(ScriptedDevice([.pollFails(code)]).failure() == .lost)
        let atQueue = ScriptedDevice([.frame(Frame()), .frame(Frame())])
        atQueue.laterFailures[CV4L2_QBUF] = (6, code)
        #expect(atQueue.failure() == .lost)
    }

    @Test("EIO names the call")
    func inputOutputError() {
        let failure = ScriptedDevice([.dequeueFails(EIO)]).failure()
        #expect(failure == .systemCallFailed("VIDIOC_DQBUF", errno: EIO))
    }

    @Test("a camera that never delivers counts as silent after the time that it has to start")
    func silentFromTheStart() {
        let device = ScriptedDevice([.silence])
        let start = device.now
        guard case .silent(let time)? = device.failure() else {
            Issue.record("not silent")
            return
        }
        #expect(time > .seconds(5) && time < .seconds(6))
        #expect((device.now - start - time).magnitude < .milliseconds(10))
    }

    @Test("gives up a silent camera after two seconds and five frames")
    func fallsSilent() {
        let device = ScriptedDevice([.frame(Frame()), .silence])
        guard case .silent(let time)? = device.failure() else {
            Issue.record("not silent")
            return
        }
        #expect(time > .seconds(2) && time < .milliseconds(2200))
    }

    @Test("waits for slow cameras: five of their own frames")
    func slowCamera() {
        let device = ScriptedDevice([.silence])
        device.grantedInterval = (10, 1)
        guard case .silent(let time)? = device.failure() else {
            Issue.record("not silent")
            return
        }
        #expect(time == .seconds(55))
    }

    @Test("a poll error without a frame ends as silence, not in a loop")
    func pollError() {
        // It is retried now and then, not all the time.
        let device = ScriptedDevice(Array(repeating: .pollError, count: 700))
        guard case .silent? = device.failure() else {
            Issue.record("not silent")
            return
        }
        #expect(device.events.count > 100, "asked again \(700 - device.events.count) times")
    }

    @Test("treats a camera that only delivers damaged frames as silent, and counts them")
    func nothingUsable() throws {
        // They arrive at 30 a second, for half a minute.
        let damaged = Frame(flags: UInt32(V4L2_BUF_FLAG_ERROR))
        let stream = try ScriptedDevice(Array(repeating: .frame(damaged), count: 1000)).stream()
        #expect(throws: CaptureError.self) { try stream.hold() }
        #expect((100..<300).contains(stream.losses.corrupt))
    }

    @Test("ignores a signal during a wait")
    func interruptedCall() throws {
        let device = ScriptedDevice([.pollFails(EINTR), .pollFails(EINTR), .frame(Frame())])
        #expect(try device.stream().nextSequence() == 0)
    }

    @Test(
        "blames the driver for an index out of range",
        arguments: [6, 31, 32, 99, UInt32.max] as [UInt32])
    func foreignIndex(index: UInt32) {
        let failure = ScriptedDevice([.frame(Frame(index: index))]).failure()
        #expect(failure == .driverMisbehaved("it returned buffer \(index) of 6"))
    }

    @Test(
        "skips a buffer that is handed over while held, and counts its frame as lost")
    func twice() throws {
        let device = ScriptedDevice([
            .frame(Frame(index: 2)), .frame(Frame(index: 2)), .frame(Frame(index: 3)),
        ])
        let stream = try device.stream()
        let held = try stream.hold()
        #expect(try stream.nextSequence() == 2)
        #expect(stream.losses.droppedByDriver == 1)
        held.letGo()
        device.events = [.frame(Frame(index: 2))]
        #expect(try stream.nextSequence() == 3)
    }

    @Test("treats a driver that delivers nothing else as silent")
    func nothingOfItsOwn() throws {
        let device = ScriptedDevice(Array(repeating: .frame(Frame(index: 2)), count: 3000))
        let stream = try device.stream()
        let held = try stream.hold()
        let error = #expect(throws: CaptureError.self) { try stream.hold() }
        guard case .silent? = error?.kind else {
            Issue.record("not silent")
            return
        }
        withExtendedLifetime(held) {}
    }

    @Test("a cancellation ends a wait, and every later one")
    func cancellation() throws {
        let device = ScriptedDevice()
        let stream = try device.stream()
        let interrupter = stream.interrupter
        device.events = [.perform { interrupter.interrupt() }, .frame(Frame())]
        #expect(try stream.nextSequence() == nil)
        #expect(try stream.nextSequence() == nil)
    }

    // MARK: Again

    @Test("a stopped stream starts again: it queues free buffers, and numbers start over")
    func restarts() throws {
        let device = ScriptedDevice([
            .frame(Frame(sequence: 0)), .frame(Frame(sequence: 1)), .silence, .frame(Frame(sequence: 2)),
            .frame(Frame(sequence: 3)),
        ])
        let stream = try device.stream()
        let held = try stream.hold()
        #expect(try stream.nextSequence() == 1)
        #expect(throws: CaptureError.self) { try stream.nextSequence() }
        try stream.restart()
        #expect(device.isStreaming)
        #expect(Set(device.queued) == [1, 2, 3, 4, 5])
        #expect(try stream.nextSequence() == 2)
        #expect(stream.losses.droppedByDriver == 2, "0 and 1 of the new count")
        held.letGo()
        #expect(try stream.nextSequence() == 3)
        #expect(Set(device.queued).contains(0))
    }

    @Test("closing a stream waits for held buffers")
    func awaitsBuffers() throws {
        let device = ScriptedDevice([.frame(Frame()), .frame(Frame())])
        let stream = try device.stream()
        let (first, second) = (try stream.hold(), try stream.hold())
        stream.stop()
        first.letGo()
        device.events = [.silence]
        #expect(!stream.awaitBuffers(until: device.now + .seconds(1)))
        device.events = [.perform { second.letGo() }]
        #expect(stream.awaitBuffers(until: device.now + .seconds(1)))
    }

    @Test("giving up a device closes and unmaps it; held pictures stay readable, but empty")
    func releasesDevice() throws {
        let device = ScriptedDevice([.frame(Frame(fill: 0x77))])
        let stream = try device.stream()
        let held = try stream.hold()
        stream.releaseDevice()
        #expect(!device.isStreaming)
        #expect(device.closeCount == 1)
        #expect(held.rows(ofPlane: 0)[479] == Array(repeating: 0, count: 1280))
        held.letGo()
    }

    @Test("a source that changes its size ends the stream; other changes do not")
    func sourceChange() throws {
        let device = ScriptedDevice([
            .sourceChanges(0), .frame(Frame()), .sourceChanges(UInt32(V4L2_EVENT_SRC_CH_RESOLUTION)),
        ])
        let stream = try device.stream()
        #expect(device.callCount[CV4L2_SUBSCRIBE_EVENT] == 1)
        #expect(try stream.nextSequence() == 0)
        #expect(throws: CaptureError(.sourceChanged, device: ScriptedDevice.path)) {
            try stream.nextSequence()
        }
    }

    @Test("switches the stream off once, and closes the device with its last owner")
    func stops() throws {
        let device = ScriptedDevice()
        do {
            let stream = try device.stream()
            stream.stop()
            stream.stop()
            #expect(!device.isStreaming)
            #expect(device.closeCount == 0)
        }
        #expect(device.callCount[CV4L2_STREAMOFF] == 1)
        #expect(device.closeCount == 1)
    }
}
