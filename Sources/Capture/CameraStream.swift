import CV4L2
import CamPictures
import CamPlatform
import Glibc

/// A camera's stream: V4L2 buffers, mapped, queued and dequeued by the capture thread alone.
public final class CameraStream: CaptureStream {
    public let identity: SourceIdentity
    public private(set) var format: PictureFormat
    public let isLive = true
    public let takesTimeToStart = true
    public var bufferCount: Int { pool.count - (pool.isShared ? PixelBufferPool.heldByReader : 0) }
    public private(set) var losses = CaptureLosses()
    public var interrupter: CaptureInterrupter { CaptureInterrupter(pool: pool) }

    public private(set) var controlChanges: [ControlChange] = []
    public private(set) var missingControls: [CaptureError] = []

    private let device: V4L2Device
    private var pool: PixelBufferPool
    private let type: UInt32
    private let isMultiPlanar: Bool
    private var requests: V4L2BufferRequest
    /// The device that reads the pictures; nil if the processor reads them.
    private let sharing: (any SharedMemorySource)?
    /// Whether a picture has come since the buffers were requested.
    private var hasDelivered = false
    /// Whether shared memory may be the reason that no picture comes.
    private var isSharingBlamed = false
    /// The buffers that the driver has, as bits.
    private var queued: UInt32 = 0
    /// The buffers that readers hold, as bits.
    private var held: UInt32 = 0
    private var expectedSequence: UInt32?
    /// The first sequence number of the driver's count, and its time of arrival.
    private var countStart = (sequence: UInt32(0), time: Instant.start)
    private var deadline: FrameDeadline
    private var times: TimestampCorrection
    private var isStreaming = false
    private var restoresControls = false
    private var jpegSizes = JPEGSizeWatch()

    private static let errorPause = Duration.milliseconds(10)
    private static let measuringPatience = Duration.seconds(3)

    /// - Parameter sharing: the device that reads the pictures; nil if the processor reads them.
    init(
        device: V4L2Device, identity: SourceIdentity, isMultiPlanar: Bool, format: PictureFormat,
        sharing: (any SharedMemorySource)? = nil
    ) throws(CaptureError) {
        self.device = device
        self.identity = identity
        self.isMultiPlanar = isMultiPlanar
        self.format = format
        self.sharing = sharing
        let buffers = try CameraBuffers.queued(
            on: device, isMultiPlanar: isMultiPlanar, format: format, sharing: sharing)
        (pool, requests) = (buffers.pool, buffers.requests)
        type = requests.type
        queued = buffers.all
        deadline = FrameDeadline(
            clock: device.calls, frameDuration: format.frameRate.frameDuration)
        times = TimestampCorrection(
            frameDuration: format.frameRate.frameDuration, start: device.calls.now)
        SourceChange.subscribe(on: device)
        renewDeadline()
    }

    deinit { stop() }

    /// Sets the requested controls. Call it before streaming: many controls cannot change during streaming.
    func setControls(_ request: CaptureRequest) throws(CaptureError) {
        var missing: [CaptureError]? = request.skipsMissingControls ? [] : nil
        controlChanges = try CameraControls(device: device).apply(request.controls, missing: &missing)
        missingControls = missing ?? []
        restoresControls = request.restoresControls
    }

    /// Sets the controls that the driver accepts.
    func setPossibleControls(_ settings: [ControlSetting]) {
        CameraControls(device: device).applyPossible(settings)
    }

    public var exposure: Exposure? { CameraControls(device: device).exposure }

    public func start() throws(CaptureError) {
        if isSharingBlamed || hasSharingEnded { try stopSharing() }
        do throws(CaptureError) { try beginStreaming() } catch {
            disableSharing(for: error)
            guard isSharingBlamed else { throw error }
            try stopSharing()
            try beginStreaming()
        }
    }

    private func beginStreaming() throws(CaptureError) {
        takeReturned()
        for index in 0..<pool.count where (queued | held) & 1 << UInt32(index) == 0 { try queue(index) }
        expectedSequence = nil
        times.restart(frameDuration: format.frameRate.frameDuration, at: device.calls.now)
        var type = Int32(bitPattern: type)
        let result = device.control(CV4L2_STREAMON, &type)
        guard result >= 0 else { throw device.failure("VIDIOC_STREAMON", result) }
        isStreaming = true
        countStart = (0, device.calls.now)
        renewDeadline()
    }

    /// Streams for a second to measure the rate of the pictures. A failure is ignored: it recurs at the real
    /// start.
    func measureRate() {
        var meter = RateMeter()
        let limit = device.calls.now + Self.measuringPatience
        do throws(CaptureError) {
            try start()
            while !meter.isDone, device.calls.now < limit {
                guard case .buffer(let buffer) = try nextBuffer() else { break }
                meter.add(sequence: buffer.sequence, timestamp: buffer.timestamp)
            }
        } catch {}
        endStreaming()
        losses = CaptureLosses()
        if let format = meter.frameRate.flatMap(format.at) { self.format = format }
    }

    public func stop() {
        endStreaming()
        if restoresControls {
            restoresControls = false
            CameraControls(device: device).restore(controlChanges)
        }
    }

    public func restart() throws(CaptureError) {
        endStreaming()
        try start()
    }

    /// Records that a camera has delivered nothing into shared memory so far: the camera may not support
    /// shared memory.
    private func disableSharing(for failure: CaptureError) {
        guard pool.isShared, !hasDelivered, failure.kind != .lost, failure.kind != .sourceChanged else {
            return
        }
        isSharingBlamed = true
        sharing?.giveUp("the camera delivered nothing into shared memory (\(failure.reason))")
    }

    /// Replaces the shared buffers with mapped ones.
    private func stopSharing() throws(CaptureError) {
        isSharingBlamed = false
        let buffers = try CameraBuffers.queued(
            on: device, isMultiPlanar: isMultiPlanar, format: format, sharing: nil)
        (pool, requests, queued, held) = (buffers.pool, buffers.requests, buffers.all, 0)
    }

    /// Whether the camera writes into the memory of a device that no longer reads it.
    private var hasSharingEnded: Bool { requests.isImported && sharing?.isOver == true }

    private func endStreaming() {
        guard isStreaming else { return }
        isStreaming = false
        var type = Int32(bitPattern: type)
        _ = device.control(CV4L2_STREAMOFF, &type)
        // VIDIOC_STREAMOFF removes every buffer from the driver's queues (V4L2 specification).
        queued = 0
    }

    public func awaitBuffers(until deadline: Instant) -> Bool {
        takeReturned()
        // Shared memory outlasts the camera, and an encoder may hold the last pictures.
        if pool.isShared { return true }
        while held != 0, !pool.isInterrupted, device.calls.now < deadline {
            waitForWake(until: deadline)
            takeReturned()
        }
        return held == 0
    }

    public func releaseDevice() {
        stop()
        pool.leaveDriver()
        device.close()
    }

    public func nextBuffer() throws(CaptureError) -> NextBuffer {
        do throws(CaptureError) {
            while true {
                try queueReturned()
                if pool.isInterrupted { return .interrupted }
                if hasSharingEnded { throw device.error(.sharingEnded) }
                guard try waitForDevice() else { continue }
                if let buffer = try dequeue() { return .buffer(buffer) }
            }
        } catch {
            disableSharing(for: error)
            throw error
        }
    }

    /// Waits for a frame, a returned buffer, a cancellation or the deadline.
    /// - Returns: whether the device has something to report.
    private func waitForDevice() throws(CaptureError) -> Bool {
        var descriptors: InlineArray<2, pollfd> = [
            pollfd(fd: pool.wakeDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: device.descriptor, events: Int16(POLLIN | POLLPRI), revents: 0),
        ]
        // Without a queued buffer, poll reports an error at once (V4L2 specification, poll()).
        let count = queued == 0 ? 1 : 2
        let result = withUnsafeMutableBytes(of: &descriptors) {
            device.calls.poll(
                UnsafeMutableBufferPointer(rebasing: $0.assumingMemoryBound(to: pollfd.self)[..<count]),
                until: queued == 0 ? nil : deadline.time)
        }
        if result == -EINTR { return false }
        guard result >= 0 else { throw device.failure("poll", result) }
        let events = count == 2 ? Int32(descriptors[1].revents) : 0
        if events & POLLPRI != 0, SourceChange.hasCome(to: device) { throw device.error(.sourceChanged) }
        if events & ~POLLPRI != 0 { return true }
        if result == 0 { try throwIfSilentTooLong() }
        return false
    }

    private func waitForWake(until time: Instant) {
        var descriptor = pollfd(fd: pool.wakeDescriptor, events: Int16(POLLIN), revents: 0)
        withUnsafeMutablePointer(to: &descriptor) {
            _ = device.calls.poll(UnsafeMutableBufferPointer(start: $0, count: 1), until: time)
        }
    }

    private func renewDeadline() { deadline.renew(isFirst: expectedSequence == nil) }

    private func throwIfSilentTooLong() throws(CaptureError) {
        guard deadline.isOver() else { return }
        throw device.error(.silent(for: deadline.patience))
    }

    /// Returns the next frame; nil if there is none, or it cannot be used.
    private func dequeue() throws(CaptureError) -> PixelBuffer? {
        var request = requests.make()
        let result = device.control(CV4L2_DQBUF, &request)
        if result == -EAGAIN {
            try throwIfSilentTooLong()
            // A driver that reports an error without a buffer would otherwise be polled in a busy loop.
            waitForWake(until: min(deadline.time, device.calls.now + Self.errorPause))
            return nil
        }
        guard result >= 0 else { throw device.failure("VIDIOC_DQBUF", result) }
        let index = Int(request.index)
        guard index < pool.count else {
            throw device.error(.driverMisbehaved("it returned buffer \(index) of \(pool.count)"))
        }
        guard queued & 1 << UInt32(index) != 0 else {
            // v4l2loopback cycles through its buffers, including those still in use here. This frame is lost,
            // and the gap in the sequence numbers counts it.
            try throwIfSilentTooLong()
            waitForWake(until: min(deadline.time, device.calls.now + Self.errorPause))
            return nil
        }
        queued &= ~(1 << UInt32(index))
        countGap(before: request.sequence)
        guard request.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0, let payloads = payloads(of: request) else {
            losses.corrupt += 1
            try throwIfSilentTooLong()
            try queue(index)
            return nil
        }
        held |= 1 << UInt32(index)
        hasDelivered = true
        renewDeadline()
        followSize(of: index, payloads[0])
        return PixelBuffer(
            pool: pool, index: index, payloads: payloads, format: format, sequence: request.sequence,
            timestamp: timestamp(of: request))
    }

    /// Some cameras persistently send JPEGs of another size than was negotiated.
    private func followSize(of index: Int, _ payload: PixelBuffer.Payload) {
        guard format.pixelFormat.arrangement == .jpeg else { return }
        let memory = pool.memory(ofBuffer: index, plane: 0)
        let picture = UnsafeRawBufferPointer(
            rebasing: memory[payload.offset..<payload.offset + payload.length])
        if let size = jpegSizes.change(from: format.size, in: picture), let other = format.resized(to: size) {
            format = other
        }
    }

    /// Counts the frames that the driver dropped before this one.
    ///
    /// Drivers number frames from 0 when the stream starts. Numbers that jump backwards, or further ahead
    /// than the elapsed time allows, are not a loss: v4l2loopback resets its numbers, and keeps counting
    /// between streams.
    private func countGap(before sequence: UInt32) {
        let gap = Int32(bitPattern: sequence &- (expectedSequence ?? 0))
        let now = device.calls.now
        let elapsedFrames = (now - countStart.time) / format.frameRate.frameDuration
        if gap >= 0, Double(sequence &- countStart.sequence) <= 2 * elapsedFrames + 8 {
            losses.droppedByDriver += Int(gap)
        } else {
            countStart = (sequence, now)
        }
        expectedSequence = sequence &+ 1
    }

    /// Returns where the picture's planes are; nil if the driver filled less than a picture, or claims more
    /// than the buffer holds.
    private func payloads(of request: v4l2_buffer) -> InlineArray<3, PixelBuffer.Payload>? {
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        for plane in 0..<format.minimumLengths.count {
            let (offset, used) = requests.payload(of: request, plane: plane)
            guard offset <= used, used <= pool.memory(ofBuffer: Int(request.index), plane: plane).count,
                used - offset >= format.minimumLengths[plane]
            else { return nil }
            payloads[plane] = PixelBuffer.Payload(offset: offset, length: used - offset)
        }
        return payloads
    }

    /// Drivers whose clock is not CLOCK_MONOTONIC, or is a minute off, get the time at which the frame was
    /// dequeued.
    private func timestamp(of request: v4l2_buffer) -> Instant {
        let clock = request.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK)
        let (seconds, microseconds) = (request.timestamp.tv_sec, request.timestamp.tv_usec)
        let now = device.calls.now
        guard clock == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC), (0...Int(Int32.max)).contains(seconds),
            (0..<1_000_000).contains(microseconds)
        else { return now }
        let result = times.correct(.start + .seconds(seconds) + .microseconds(microseconds), arrival: now)
        if let fault = result.fault { losses.note(fault) }
        return result.time
    }

    @discardableResult private func takeReturned() -> UInt32 {
        let returned = pool.takeReturned()
        held &= ~returned
        return returned
    }

    private func queueReturned() throws(CaptureError) {
        var returned = takeReturned()
        while returned != 0 {
            try queue(returned.trailingZeroBitCount)
            returned &= returned - 1
        }
    }

    private func queue(_ index: Int) throws(CaptureError) {
        var request = requests.make(index)
        let result = device.control(CV4L2_QBUF, &request)
        guard result >= 0 else { throw device.failure("VIDIOC_QBUF", result) }
        // The camera had no buffer, so it could not deliver.
        if queued == 0 { renewDeadline() }
        queued |= 1 << UInt32(index)
    }
}

// MARK: Silent cameras

/// When a silent camera counts as frozen: two seconds and five frame intervals after its last frame, or five
/// seconds and five frame intervals after it was started.
///
/// A stopped process or a suspended machine could not have received a frame: the deadline then starts over.
struct FrameDeadline {
    private(set) var time = Instant.distantPast
    /// How long the camera may deliver nothing.
    private(set) var patience = Duration.zero

    private let clock: any SourceClock
    private let frameDuration: Duration
    private var suspended: Duration

    private static let startGrace = Duration.seconds(5)
    private static let usual = Duration.seconds(2)
    /// A wait that ends this much too late means that the process or the machine was stopped.
    private static let lateness = Duration.seconds(1)
    /// The two clocks that tell how long the machine was suspended are read one after the other.
    private static let clockTolerance = Duration.milliseconds(500)

    init(clock: any SourceClock, frameDuration: Duration) {
        self.clock = clock
        self.frameDuration = frameDuration
        suspended = clock.suspendedTime
    }

    /// Restarts the deadline.
    /// - Parameter isFirst: for the first frame.
    mutating func renew(isFirst: Bool) {
        patience = (isFirst ? Self.startGrace : Self.usual) + frameDuration * 5
        time = clock.now + patience
    }

    /// Whether the camera's time is up without a frame.
    mutating func isOver() -> Bool {
        let now = clock.now
        guard now >= time else { return false }
        let suspended = clock.suspendedTime
        guard now - time < Self.lateness, (suspended - self.suspended).magnitude < Self.clockTolerance else {
            self.suspended = suspended
            time = now + patience
            return false
        }
        return true
    }
}
