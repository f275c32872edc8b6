import Bitstream
import Encoder
import Output

extension StreamDescription {
    /// What a container is told of the stream that an open encoder makes.
    public init(_ provider: any EncoderProvider) {
        let stream = provider.stream
        self.init(
            codec: provider.codec, width: stream.size.width, height: stream.size.height,
            frameRate: stream.frameRate, reordering: stream.bFrames, color: stream.color,
            pixelAspect: stream.pixelAspect, encoder: provider.choice?.details?.implementation)
    }
}
