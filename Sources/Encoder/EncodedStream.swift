import CamPictures

/// The properties that an open encoder's stream declares.
public struct EncodedStream: Sendable {
    /// The picture as it is shown.
    public let size: PictureSize
    /// Nominal frames a second.
    public let frameRate: FrameRate
    /// The same for a time lapse, whose frames follow each other at that rate; nil for one that plays as captured.
    public let playbackRate: FrameRate?
    /// Range, matrix, primaries and transfer.
    public let color: ColorEncoding
    /// Nil for square pixels.
    public let pixelAspect: PixelAspect?
    /// The largest number of B pictures in a row.
    public let bFrames: Int

    /// Describes a stream of pictures in a source's format.
    public init(of source: PictureFormat, bFrames: Int = 0, playbackRate: FrameRate? = nil) {
        (size, pixelAspect, color) = (source.size, source.pixelAspect, source.color)
        frameRate = playbackRate ?? source.frameRate
        self.playbackRate = playbackRate
        self.bFrames = bFrames
    }

    /// Describes what an encoder makes of pictures in a source's format.
    init(of source: PictureFormat, by encoder: VideoEncoder, bFrames: Int, playbackRate: FrameRate?) {
        (size, pixelAspect, color) = (encoder.size, encoder.pixelAspect, encoder.color)
        frameRate = playbackRate ?? source.frameRate
        self.playbackRate = playbackRate
        self.bFrames = bFrames
    }
}
