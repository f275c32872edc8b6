import CV4L2
import CamPictures
import CamPlatform

/// A source of pictures: a camera, a file, the test pattern.
///
/// One thread, the capture thread, calls `start`, `nextBuffer` and `stop`; `interrupt` may come from any
/// thread.
public protocol CaptureStream: AnyObject {
    /// Which source it is.
    var identity: SourceIdentity { get }

    /// The format of the next picture. It may change: a camera may turn out to deliver another one.
    var format: PictureFormat { get }

    /// The controls that were set.
    var controlChanges: [ControlChange] { get }

    /// The requested controls that the source does not have, each as the error of a request that requires it.
    var missingControls: [CaptureError] { get }

    /// How the latest picture was exposed; nil if the driver does not say. Call it only between pictures.
    var exposure: Exposure? { get }

    /// The number of buffers in the pool. A reader that holds more than `bufferCount - 2` of them starves the
    /// source.
    var bufferCount: Int { get }

    /// Whether pictures come at their own pace, and are lost if they are not taken. Otherwise the source
    /// waits.
    var isLive: Bool { get }

    /// Whether some time passes between its start and its first picture, as cameras need.
    var takesTimeToStart: Bool { get }

    /// The driver's losses so far.
    var losses: CaptureLosses { get }

    /// Starts the source: a camera delivers from now on, and loses pictures that are not taken.
    func start() throws(CaptureError)

    /// Waits for the next picture.
    func nextBuffer() throws(CaptureError) -> NextBuffer

    /// Ends a wait in `nextBuffer`, which returns `.interrupted` from then on.
    var interrupter: CaptureInterrupter { get }

    /// Ends streaming. Buffers still held stay readable.
    func stop()

    /// Stops streaming and starts again, on a device that stays open.
    func restart() throws(CaptureError)

    /// Waits, after `stop`, until all buffers are released.
    /// - Returns: false if the deadline passed or the stream was interrupted.
    func awaitBuffers(until deadline: Instant) -> Bool

    /// Gives up the device, so that it can be opened again; the stream is then unusable. Buffers still held
    /// stay readable, but may have lost their picture.
    func releaseDevice()
}

extension CaptureStream {
    /// Stops and starts.
    public func restart() throws(CaptureError) {
        stop()
        try start()
    }

    /// Only cameras take time to start.
    public var takesTimeToStart: Bool { false }

    /// Sources that are not devices are never reopened.
    public func awaitBuffers(until deadline: Instant) -> Bool { true }

    /// There is no device to give up.
    public func releaseDevice() { stop() }

    /// Only cameras have controls.
    public var controlChanges: [ControlChange] { [] }

    /// Only cameras have controls.
    public var missingControls: [CaptureError] { [] }

    /// Only cameras have an exposure.
    public var exposure: Exposure? { nil }
}

/// The result of `CaptureStream.nextBuffer`.
public enum NextBuffer: ~Copyable, Sendable {
    case buffer(PixelBuffer)
    /// A file ended.
    case end
    /// `CaptureInterrupter.interrupt` was called.
    case interrupted
}

/// Ends a stream's wait, from any thread.
public struct CaptureInterrupter: Sendable {
    let pool: PixelBufferPool

    /// Ends the wait, and every later one.
    public func interrupt() { pool.interrupt() }
}

/// The losses of a camera's driver. Delivered buffers, dropped frames and corrupt frames together account for
/// the camera's numbering.
public struct CaptureLosses: Sendable, Hashable {
    /// Gaps in the sequence numbers.
    public var droppedByDriver = 0
    /// Flagged as damaged by the driver (V4L2_BUF_FLAG_ERROR), or shorter than a picture.
    public var corrupt = 0
    /// Pictures whose time of capture was wrong and is corrected.
    public var correctedTimes = 0
    /// Whether the driver's times have stood still.
    public var haveTimesStood = false
    /// The first jump of the driver's times; nil without a jump.
    public var timeJump: Duration?

    /// Nothing lost.
    public init() {}

    mutating func note(_ fault: TimestampFault) {
        correctedTimes += 1
        switch fault {
        case .standing: haveTimesStood = true
        case .jumped(let jump): timeJump = timeJump ?? jump
        }
    }
}

/// Identifies a source.
public struct SourceIdentity: Sendable, Hashable {
    /// The path by which the source was opened, or `test`.
    public let device: String
    /// The source's own name.
    public let name: String
    /// The kernel driver; nil if the source is not a device.
    public let driver: String?
    /// The bus position; nil if the source is not a device.
    public let bus: String?

    init(device: String, name: String, driver: String? = nil, bus: String? = nil) {
        self.device = device
        self.name = name
        self.driver = driver
        self.bus = bus
    }
}

// MARK: The clock of sources

/// The time, and waiting for descriptors, as the sources see them.
protocol SourceClock: TimeSource, AnyObject {
    /// Waits until a descriptor is ready or the time is over; without a time, forever. Returns what ppoll(2)
    /// does, but −errno on failure.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32
}

extension SourceClock {
    var now: Instant { .now }

    var wallTime: WallTime { .now }

    var suspendedTime: Duration { SystemTime().suspendedTime }

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32 {
        cv4l2_poll(descriptors.baseAddress, nfds_t(descriptors.count), duration?.inNanoseconds ?? -1)
    }

    /// Waits until a descriptor is ready or the deadline passes; without a deadline, forever.
    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, until deadline: Instant?) -> Int32 {
        poll(descriptors, for: deadline.map { max(.zero, $0 - now) })
    }
}

/// The system's own clock.
final class SystemClock: SourceClock {}
