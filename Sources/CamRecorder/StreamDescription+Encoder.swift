import Bitstream
import Encoder
import Output

extension StreamDescription {
    /// Describes an open encoder's stream for a container.
    public init(_ provider: any EncoderProvider) {
        let stream = provider.stream
        self.init(
            codec: provider.codec, width: stream.size.width, height: stream.size.height,
            frameRate: stream.frameRate, reordering: stream.bFrames, color: stream.color,
            pixelAspect: stream.pixelAspect, encoder: provider.choice?.details?.implementation)
        playbackRate = stream.playbackRate
    }
}
