import CFFmpeg
import Capture

/// Brings a camera's picture into the form that an encoder takes.
///
/// Used by the encode thread only.
protocol EncoderInput: AnyObject {
    /// A frame with the picture in it, without `pts` and type. The caller frees nothing: it is the same
    /// AVFrame each time, and its content is only valid as long as `buffer` lives.
    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame>

    /// Gives up what the frame held, once libavcodec has taken it.
    func release()
}
