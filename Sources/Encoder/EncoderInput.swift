import CFFmpeg
import Pictures

/// Brings a camera's picture into the form that an encoder takes, once for all encoders that take this form.
///
/// Used by the encode thread only.
protocol EncoderInput: AnyObject {
    /// A frame with the picture in it, without `pts` and type: converted by the first call, the same frame for
    /// every further one until `release`. The caller frees nothing: it is the same AVFrame each time, and its
    /// content is only valid as long as `buffer` lives.
    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame>

    /// Releases what the frame held, once every encoder has taken it. Repeated calls have no effect.
    func release()
}
