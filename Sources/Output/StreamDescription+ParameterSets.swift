import Bitstream
import CamPictures

extension StreamDescription {
    /// Describes a stream from its parameter sets; nil without a sequence parameter set.
    /// - Parameter reordering: how far the stream actually reorders, if known.
    public init?(_ parameterSets: StreamParameterSets, reordering: Int? = nil) {
        switch parameterSets.codec {
        case .h264:
            guard let set = parameterSets.h264.latestSequence else { return nil }
            self.init(
                codec: .h264, width: set.width, height: set.height, frameRate: set.frameRate,
                reordering: reordering ?? set.maxNumReorderFrames,
                color: set.vui_parameters?.colorEncoding)
        case .hevc:
            guard let set = parameterSets.hevc.latestSequence else { return nil }
            self.init(
                codec: .hevc, width: set.width, height: set.height, frameRate: set.pictureRate,
                reordering: reordering ?? set.maxNumReorderPictures,
                color: set.vui_parameters?.colorEncoding)
        }
    }
}
