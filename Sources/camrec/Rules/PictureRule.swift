import Capture
import Encoder
import CamPictures

/// Only pictures that camrec encodes can be changed, and only to sizes that a codec has.
struct PictureRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let (picture, source) = (command.picture, command.source)
        if source.isCamera, source.format == .h264, let option = picture.given.first {
            return "--format h264 uses the camera's own H.264, whose pictures are not decoded; "
                + "leave out \(option), or use another --format"
        }
        if picture.overlay == nil, let detail = picture.overlayDetails.first {
            return "\(detail) needs --overlay with a text, as in '%F %T'; add one"
        }
        if picture.overlayFont == nil, let character = picture.overlay?.missingFromBuiltInFont {
            return
                "the built-in font has no '\(character)', only Latin-1; add --overlay-font with a font file"
        }
        // A camera's size is not known yet: it grants what is nearest to the request.
        let size = source.device == TestSource.name ? source.expectedSize : nil
        do throws(EncoderError) { try picture.framing.refuse(within: size) } catch {
            return error.description
        }
        return nil
    }
}

extension SourceOptions {
    /// The pictures' size, as far as it is known before anything is opened.
    fileprivate var expectedSize: PictureSize? {
        CaptureSource.expectedPictures(device, request: request).size
    }
}
