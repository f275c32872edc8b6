import Capture
import Encoder
import CamPictures

/// Settings that no encoder supports are refused, whatever the source.
struct CodingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let source = command.source
        let pictures = CaptureSource.expectedPictures(source.device, request: source.request)
        for configuration in command.configurations {
            do throws(EncoderError) {
                try configuration.refuseContradictions()
                if source.format != .h264, let size = command.picture.size(of: pictures.size) {
                    try configuration.refuseBeyondLevel(size, at: configuration.playbackRate ?? pictures.rate)
                }
            } catch { return error.description }
        }
        return nil
    }
}
