import CamPictures
import CamPlatform
import Glibc

/// Opens the source that `--device` names.
public enum CaptureSource {
    /// Opens a source, ready to be started.
    /// - Parameters:
    ///   - device: a camera's path, `test`, or the path of a `.y4m` file; nil for the first camera.
    ///   - isPaced: whether test pictures and files are delivered in real time; nil for the default: yes for
    ///     test pictures, no for files.
    ///   - sharing: the device that reads a camera's pictures instead of the processor.
    public static func open(
        _ device: String?, request: CaptureRequest, isPaced: Bool? = nil,
        sharing: (any SharedMemorySource)? = nil
    ) throws(CaptureError) -> any CaptureStream {
        try refuseImpossible(device, request: request)
        return switch device {
        case TestSource.name:
            try TestSource(request, isPaced: isPaced ?? true)
        case .some(let path) where isFile(path):
            try Y4MSource(path: path, request: request, isPaced: isPaced ?? false)
        case .some(let path):
            try Camera(path: path).makeStream(request, sharing: sharing)
        case nil:
            try Camera.first().makeStream(request, sharing: sharing)
        }
    }

    /// Rejects requests that are bound to fail, before anything is opened: features that a built-in source
    /// lacks, and names of missing sources.
    public static func refuseImpossible(
        _ device: String?, request: CaptureRequest
    ) throws(CaptureError) {
        guard let device else { return }
        guard isBuiltIn(device) else { return try refuseUnknownName(device) }
        func refusal(_ reason: String) -> CaptureError { CaptureError(.unsupported(reason), device: device) }
        if !request.controls.isEmpty { throw refusal("only cameras have controls; leave out --control") }
        if (request.input ?? request.standard) != nil {
            throw refusal("only cameras have inputs and standards; leave out --input and --standard")
        }
        guard let format = request.pixelFormat else { return }
        if device == TestSource.name {
            try TestSource.refuse(format)
        } else if !Y4MHeader.pixelFormats.contains(format) {
            throw refusal("a .y4m file has no \(format); leave out --format")
        }
    }

    /// The pictures' expected size and rate, before the source is opened: a camera grants the nearest that it
    /// has.
    public static func expectedPictures(
        _ device: String?, request: CaptureRequest
    ) -> (size: PictureSize?, rate: FrameRate?) {
        guard device == TestSource.name else { return (request.size, request.frameRate) }
        return (request.size ?? .usual, request.frameRate ?? .usual)
    }

    /// A name without a slash may be a file in the working folder; the name of a missing file is a mistake.
    private static func refuseUnknownName(_ device: String) throws(CaptureError) {
        guard !device.contains("/"), access(device, F_OK) != 0 else { return }
        let path = "/dev/\(device)"
        let isNode = access(path, F_OK) == 0
        let nearest = [TestSource.name].nearest(to: device)
        let advice = (isNode ? path : nearest).map { "use --device \($0)" }
        throw CaptureError(
            .unknownSource(advice: advice ?? "'camrec devices' lists the cameras"), device: device)
    }

    /// Whether a device's name means test pictures or a file rather than a camera.
    public static func isBuiltIn(_ device: String) -> Bool { device == TestSource.name || isFile(device) }

    private static func isFile(_ path: String) -> Bool { path.lowercased().hasSuffix(".y4m") }
}

// MARK: Requests

/// A request to a source; a nil property leaves the choice to the source.
public struct CaptureRequest: Sendable, Hashable {
    /// The picture's size. A camera grants the nearest it has.
    public var size: PictureSize?
    /// The rate. A camera grants the nearest it has.
    public var frameRate: FrameRate?
    /// The pixel format. Unlike size and rate, it must be granted exactly.
    public var pixelFormat: PixelFormat?
    /// A grabber's input, by its number or name.
    public var input: String?
    /// The television standard of that input, by its name.
    public var standard: String?
    /// The values for a camera's controls, set before streaming.
    public var controls: [ControlSetting] = []
    /// Whether to restore the controls' previous values at the end.
    public var restoresControls = false
    /// Whether controls that the camera does not have are left out, instead of refusing the request.
    public var skipsMissingControls = false

    /// Asks for nothing in particular.
    public init(size: PictureSize? = nil, frameRate: FrameRate? = nil, pixelFormat: PixelFormat? = nil) {
        self.size = size
        self.frameRate = frameRate
        self.pixelFormat = pixelFormat
    }
}
