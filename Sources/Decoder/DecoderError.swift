import Bitstream
import CamConversion

/// Why pictures could not be decoded, converted or stored at all. `description` is one line: thing, cause, next
/// step. A damaged stream is not an error: a decoder continues at the next IDR.
public struct DecoderError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        /// libavcodec has no decoder for the standard.
        case noDecoder(Codec)
        /// libavcodec refused to open one.
        case openFailed(Codec, detail: String)
        /// A picture could not be converted.
        case conversionFailed(detail: String)
        /// A picture could not be coded as PNG.
        case image(ImageError)
        /// A PNG picture could not be read.
        case unreadableImage(detail: String)
        case outOfMemory
        /// A call into that render node's driver did not return.
        case driverHangs(node: String)
    }

    /// The cause.
    public let kind: Kind

    /// An error of that kind.
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
