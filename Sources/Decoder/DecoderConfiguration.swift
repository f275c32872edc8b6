import Bitstream

/// What a `PictureDecoder` is to be.
public struct DecoderConfiguration: Sendable {
    /// What becomes of pictures behind a loss.
    public enum LossPolicy: String, Sendable, CaseIterable {
        /// Nothing is handed on until the next IDR.
        case freeze
        /// Whatever libavcodec makes of it.
        case show
    }

    /// What to do with an H.264 stream that leaves open whether it reorders its pictures.
    public enum Delay: Sendable {
        /// Take it that it does not: each picture comes out as soon as it is decoded. B pictures of such a
        /// stream are lost.
        case low
        /// Take it that it does: pictures come out one or more later.
        case safe
    }

    /// What decodes.
    public enum Acceleration: Sendable, Equatable {
        /// The first render node whose driver decodes the stream, else software.
        case automatic
        /// That render node, else software.
        case renderNode(String)
        /// Software.
        case none
    }

    /// The standard that the stream is coded by.
    public var codec: Codec
    /// What becomes of pictures behind a loss.
    public var lossPolicy = LossPolicy.freeze
    /// What to do where the stream leaves its order open.
    public var delay = Delay.low
    /// What decodes.
    public var acceleration = Acceleration.automatic
    /// The largest picture that is decoded, in luma samples; bounds the memory that a hostile stream can have
    /// taken: up to 17 pictures of it.
    public var maximumSampleCount = 8192 * 4352

    /// The defaults for a stream of that standard.
    public init(codec: Codec) { self.codec = codec }
}
