import CamPictures

/// What is requested from a source; nil leaves the choice to the source.
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
