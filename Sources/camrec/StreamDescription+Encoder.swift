import Bitstream
import Encoder
import Output

extension StreamDescription {
    /// What a container is told of the stream that an open encoder makes.
    init(_ supply: EncoderSupply) {
        let stream = supply.stream
        self.init(
            codec: supply.codec, width: stream.size.width, height: stream.size.height,
            frameRate: NominalFrameRate(stream.frameRate.numerator, in: stream.frameRate.denominator),
            reordering: stream.bFrames,
            color: Color(
                primaries: stream.color.primaries, transfer: stream.color.transfer,
                matrix: stream.color.matrix.rawValue, isFullRange: stream.color.range == .full),
            pixelAspect: stream.pixelAspect.map { PixelAspect(width: $0.width, height: $0.height) },
            encoder: supply.choice?.details?.implementation)
    }
}
