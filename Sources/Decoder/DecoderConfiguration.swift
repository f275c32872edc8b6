import Bitstream

/// The configuration of a `PictureDecoder`.
public struct DecoderConfiguration: Sendable {
    /// What happens to pictures after a loss.
    public enum LossPolicy: String, Sendable, CaseIterable {
        /// Nothing is output until the next IDR.
        case freeze
        /// Whatever libavcodec produces is output.
        case show
    }

    /// How many pictures of an H.264 stream are held back to put them in order. H.265 always declares how
    /// many.
    public enum Delay: Sendable {
        /// As many as the stream declares, none if it does not say. If more turn out to be necessary, the
        /// pictures that come too late are lost, and more are held back from then on.
        case low
        /// As many as the standard allows at the stream's level: no picture is lost.
        case safe
    }

    /// What decodes.
    public enum Acceleration: Sendable, Equatable {
        /// The first render node whose driver decodes the stream, otherwise software.
        case automatic
        /// That render node, otherwise software.
        case renderNode(String)
        /// Software.
        case none
    }

    /// The stream's coding standard.
    public var codec: Codec
    /// What happens to pictures after a loss.
    public var lossPolicy = LossPolicy.freeze
    /// How many pictures are held back.
    public var delay = Delay.low
    /// What decodes.
    public var acceleration = Acceleration.automatic
    /// The largest picture to decode, in luma samples; bounds the memory that a malicious stream can occupy:
    /// up to 16 references, 16 pictures held back, and the one being decoded.
    public var maximumSampleCount = 8192 * 4352

    /// The defaults for a stream of that standard.
    public init(codec: Codec) { self.codec = codec }
}
