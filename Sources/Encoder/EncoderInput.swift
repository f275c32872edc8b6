import CFFmpeg
import Pictures

/// Converts a camera's picture into the form that an encoder takes, once for all encoders that take that
/// form.
///
/// Used by the encode thread only.
protocol EncoderInput: AnyObject {
    /// Returns a frame with the picture, without `pts` and type. The first call converts the picture; later
    /// calls return the same frame until `release`. The caller frees nothing: it is the same AVFrame each
    /// time, and its content is only valid as long as `buffer` lives.
    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame>

    /// Releases what the frame holds, after every encoder has taken it. Repeated calls have no effect.
    func release()
}
