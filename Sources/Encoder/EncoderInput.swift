import CFFmpeg
import CamPictures

/// Converts a camera's picture into the form that an encoder takes, once for all encoders that take that
/// form.
///
/// Used by the encode thread only; slots may be filled by others.
protocol EncoderInput: AnyObject {
    /// Returns a frame with the picture, without `pts` and type. The first call converts the picture, unless it is
    /// in the slot already; later calls return the same frame until `release`. The caller frees nothing: it is the
    /// same AVFrame each time, and its content is only valid as long as `buffer` lives.
    /// - Parameter number: the slot in which the picture may be.
    func frame(
        for buffer: borrowing PixelBuffer, in number: Int
    ) throws(EncoderError) -> UnsafeMutablePointer<AVFrame>

    /// The current picture's thumbnail, until a slot is opened for another; nil if none are made.
    var thumbnail: LumaThumbnail? { get }

    /// Whether the current picture is in the camera's buffer, which must then stay until the picture is coded.
    var readsBuffer: Bool { get }

    /// Returns a slot, open for another picture than the current one; nil if there is nothing to convert, or no
    /// memory.
    func slot(_ number: Int) -> ConversionSlot?

    /// Notes that an encoder of its pictures failed. What the GPU did for the input may be what failed: later inputs do
    /// without that.
    /// - Returns: the GPU's render node, if there was such a thing.
    func blameExtras() -> String?

    /// Releases what the frame holds, after every encoder has taken it. Repeated calls have no effect.
    func release()
}

extension EncoderInput {
    /// Encoders copy what they are given, by default.
    var readsBuffer: Bool { false }

    /// Inputs do nothing besides, by default.
    func blameExtras() -> String? { nil }
}
