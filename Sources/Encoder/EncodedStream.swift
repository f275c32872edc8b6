import Pictures

/// What an open encoder's stream says of itself.
public struct EncodedStream: Sendable {
    /// The picture as it is shown.
    public let size: PictureSize
    /// Nominal frames a second.
    public let frameRate: FrameRate
    /// Range, matrix, primaries and transfer.
    public let color: ColorEncoding
    /// Nil for square pixels.
    public let pixelAspect: PixelAspect?
    /// B pictures in a row at most.
    public let bFrames: Int

    /// The stream of pictures in a source's format, but for what an encoder changes.
    public init(
        of source: PictureFormat, size: PictureSize? = nil, color: ColorEncoding? = nil, bFrames: Int = 0
    ) {
        self.size = size ?? source.size
        frameRate = source.frameRate
        self.color = color ?? source.color
        pixelAspect = source.pixelAspect
        self.bFrames = bFrames
    }
}
