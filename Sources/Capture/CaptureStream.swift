import Pictures

/// A source of pictures: a camera, a file, the test pattern.
///
/// One thread, the capture thread, calls `start`, `nextBuffer` and `stop`; `interrupt` may come from any thread.
public protocol CaptureStream: AnyObject {
    /// Which source it is.
    var identity: SourceIdentity { get }

    /// What was granted, for every picture from the next one on. A camera may turn out to deliver something else.
    var format: PictureFormat { get }

    /// The controls that were set.
    var controlChanges: [ControlChange] { get }

    /// How many buffers the pool has. A reader that keeps more than `bufferCount - 2` of them starves the
    /// source.
    var bufferCount: Int { get }

    /// Pictures come at their own pace and are lost when nobody takes them. Otherwise the source waits.
    var isLive: Bool { get }

    /// What the driver lost so far.
    var losses: CaptureLosses { get }

    /// Begins: a camera delivers from here on. Everything that can be settled before has been, so that no
    /// picture is lost to a slow start of whoever takes them.
    func start() throws(CaptureError)

    /// Waits for the next picture.
    func nextBuffer() throws(CaptureError) -> NextBuffer

    /// Ends a wait in `nextBuffer`, which then returns `.interrupted`, now and ever after.
    var interrupter: CaptureInterrupter { get }

    /// Ends streaming. Buffers still held stay readable.
    func stop()

    /// Stops streaming and begins anew, on a device that stays open.
    func restart() throws(CaptureError)

    /// Waits, after `stop`, until nobody holds a buffer any more.
    /// - Parameter deadline: monotonic nanoseconds.
    /// - Returns: false where the deadline has passed or the stream is interrupted.
    func awaitBuffers(until deadline: Int64) -> Bool

    /// Gives up the device, so that it can be opened again; the stream is of no use any more. Buffers still held
    /// stay readable, but may have lost their picture.
    func releaseDevice()
}

extension CaptureStream {
    /// Stops and starts.
    public func restart() throws(CaptureError) {
        stop()
        try start()
    }

    /// What is no device is never opened again.
    public func awaitBuffers(until deadline: Int64) -> Bool { true }

    /// There is no device to give up.
    public func releaseDevice() { stop() }

    /// Only cameras have controls.
    public var controlChanges: [ControlChange] { [] }
}

/// What `CaptureStream.nextBuffer` came back with.
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

    /// Ends the wait, now and ever after.
    public func interrupt() { pool.interrupt() }
}

/// Frames that never became a picture. With the buffers that were delivered they are what the camera numbered.
public struct CaptureLosses: Sendable, Hashable {
    /// Gaps in the sequence numbers.
    public var droppedByDriver = 0
    /// Flagged as damaged by the driver (V4L2_BUF_FLAG_ERROR), or shorter than a picture.
    public var corrupt = 0

    /// Nothing lost.
    public init() {}
}
