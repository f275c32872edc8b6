import Bitstream
import Encoder
import Output

extension StreamDescription {
    /// What a container is told of the stream that an open encoder makes.
    init(_ supply: EncoderSupply) {
        let stream = supply.stream
        self.init(
            codec: supply.codec, width: stream.size.width, height: stream.size.height,
            frameRate: stream.frameRate, reordering: stream.bFrames, color: stream.color,
            pixelAspect: stream.pixelAspect, encoder: supply.choice?.details?.implementation)
    }
}
