import Bitstream
import CamConversion

/// The configuration of a `DecompressionSession`.
public struct DecoderConfiguration: Sendable {
    /// The treatment of pictures after a loss.
    public enum LossPolicy: String, Sendable, CaseIterable {
        /// Nothing is output until the next IDR.
        case freeze
        /// Whatever libavcodec produces is output.
        case show
    }

    /// The number of pictures of an H.264 stream to hold back for reordering. H.265 streams always declare
    /// it.
    public enum Delay: Sendable {
        /// As many as the stream declares; none if it declares nothing. If more are necessary, pictures that
        /// come too late are lost, and more are held back from then on.
        case low
        /// As many as the standard allows at the stream's level: no picture is lost.
        case safe
    }

    /// The choice between a GPU and software.
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
    /// The treatment of pictures after a loss.
    public var lossPolicy = LossPolicy.freeze
    /// The number of pictures to hold back.
    public var delay = Delay.low
    /// The choice between a GPU and software.
    public var acceleration = Acceleration.automatic
    /// The largest picture to decode, in luma samples; bounds the memory that a malicious stream can occupy:
    /// up to 16 references, 16 pictures held back, and the one being decoded.
    public var maximumSampleCount = 8192 * 4352

    /// The defaults for a stream of that standard.
    public init(codec: Codec) { self.codec = codec }
}

// MARK: Errors

/// Why pictures cannot be decoded, converted or stored. `description` is one line: thing, cause, next step. A
/// damaged stream is not an error: a decoder continues at the next IDR.
public struct DecoderError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        /// libavcodec has no decoder for the standard.
        case noDecoder(Codec)
        /// libavcodec could not open the decoder.
        case openFailed(Codec, detail: String)
        /// A picture could not be converted.
        case conversionFailed(detail: String)
        /// A picture could not be coded as PNG.
        case image(ImageError)
        /// A PNG picture could not be read.
        case unreadableImage(detail: String)
        case outOfMemory
        /// A call into the driver of a render node did not return.
        case driverHangs(node: String)
    }

    /// The cause.
    public let kind: Kind

    /// Creates an error.
    public init(_ kind: Kind) { self.kind = kind }

    public var description: String {
        switch kind {
        case .noDecoder(let codec):
            "this libavcodec was built without a decoder for \(codec); install FFmpeg's own"
        case .openFailed(let codec, let detail): "cannot open the decoder for \(codec): \(detail)"
        case .conversionFailed(let detail): "cannot convert the picture: \(detail); try another size"
        case .image(let error): error.description
        case .unreadableImage(let detail): "cannot read the PNG picture: \(detail)"
        case .driverHangs(let node): "\(node): its driver is not responding; use --decoder software"
        case .outOfMemory: "out of memory; close other programs, or play a smaller stream"
        }
    }
}
