import Bitstream
import Pictures

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
                color: set.vui_parameters.flatMap(ColorEncoding.init))
        case .hevc:
            guard let set = parameterSets.hevc.latestSequence else { return nil }
            self.init(
                codec: .hevc, width: set.width, height: set.height, frameRate: set.pictureRate,
                reordering: reordering ?? set.maxNumReorderPictures,
                color: set.vui_parameters.flatMap(ColorEncoding.init))
        }
    }
}

extension ColorEncoding {
    /// Nil if nothing is said.
    fileprivate init?(_ vui: H264.VUIParameters) {
        guard vui.video_signal_type_present_flag else { return nil }
        self.init(
            range: vui.video_full_range_flag ? .full : .limited,
            matrix: Matrix(rawValue: UInt8(clamping: vui.matrix_coefficients)),
            primaries: UInt8(clamping: vui.colour_primaries),
            transfer: UInt8(clamping: vui.transfer_characteristics))
    }

    /// Nil if nothing is said.
    fileprivate init?(_ vui: H265.VUIParameters) {
        guard vui.video_signal_type_present_flag else { return nil }
        self.init(
            range: vui.video_full_range_flag ? .full : .limited,
            matrix: Matrix(rawValue: UInt8(clamping: vui.matrix_coeffs)),
            primaries: UInt8(clamping: vui.colour_primaries),
            transfer: UInt8(clamping: vui.transfer_characteristics))
    }
}
