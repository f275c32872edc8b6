@_exported import CamPictures
import CamPlatform

/// A camera, a `.y4m` file or the test picture, from which a program takes pictures one after another.
///
///     let camera = try CameraSession(.device("/dev/video0"), size: PictureSize(1280, 720), frameRate: FrameRate(30))
///     try camera.start()
///     while let picture = try camera.next() { … }
///
/// One thread starts it, takes pictures and stops it. Any thread may use a `cancellation` that was fetched before. For
/// tasks, see `CameraPictures`.
public final class CameraSession {
    /// Where pictures come from.
    public enum Source: Sendable, Hashable {
        /// A camera, by its path, such as `/dev/video0` or a link in `/dev/v4l/by-id`.
        case device(String)
        /// The first camera of this machine.
        case firstCamera
        /// A file with raw pictures, whose name ends in `.y4m`.
        case file(String)
        /// Color bars with a counter, at the camera's pace.
        case testPicture
    }

    private let stream: any CaptureStream

    /// Opens a source; it delivers nothing before `start`. A size and a rate that it does not have are replaced by the
    /// nearest that it has: see `format`.
    /// - Throws: `CaptureError` if there is no such source, it is in use, or it has no format that can be converted.
    public convenience init(
        _ source: Source, size: PictureSize? = nil, frameRate: FrameRate? = nil,
        pixelFormat: PixelFormat? = nil
    ) throws(CaptureError) {
        try self.init(
            source, CaptureRequest(size: size, frameRate: frameRate, pixelFormat: pixelFormat))
    }

    /// Opens a source as requested, with controls, an input or a television standard.
    public init(_ source: Source, _ request: CaptureRequest) throws(CaptureError) {
        let device: String? =
            switch source {
            case .device(let path), .file(let path): path
            case .firstCamera: nil
            case .testPicture: TestSource.name
            }
        stream = try CaptureSource.open(device, request: request)
    }

    /// Takes pictures from a stream that is open.
    init(_ stream: any CaptureStream) { self.stream = stream }

    /// Whether pictures come at their own pace, and are lost if they are not taken.
    var isLive: Bool { stream.isLive }

    /// The number of buffers for pictures.
    var bufferCount: Int { stream.bufferCount }

    /// The source's name and place.
    public var identity: SourceIdentity { stream.identity }

    /// The format of the next picture.
    public var format: PictureFormat { stream.format }

    /// The losses of the camera's driver so far.
    public var losses: CaptureLosses { stream.losses }

    /// Starts the source: a camera delivers from now on, and loses pictures that are not taken.
    public func start() throws(CaptureError) { try stream.start() }

    /// Waits for the next picture, which must be released before the camera runs out of buffers: hold two at most.
    /// - Returns: nil at the end of a file, or once `cancellation` was used.
    /// - Throws: `CaptureError` if the camera fails or is unplugged.
    public func next() throws(CaptureError) -> PixelBuffer? {
        switch try stream.nextBuffer() {
        case .buffer(let picture): picture
        case .end: nil
        case .interrupted: nil
        }
    }

    /// Ends a wait in `next`, which returns nil from then on.
    public var cancellation: CaptureInterrupter { stream.interrupter }

    /// Ends streaming. Pictures that are still held stay readable.
    public func stop() { stream.stop() }
}
