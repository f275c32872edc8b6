import CamPictures

/// Planes of a source that the software encoder takes as they are, with neither conversion nor copy.
public struct PassthroughLayout: Sendable, Hashable {
    /// What libx264 takes in 8 bits 4:2:0.
    public enum Arrangement: Sendable, Hashable {
        /// Luma, then Cb and Cr in turn.
        case nv12
        /// Luma, then Cr and Cb in turn.
        case nv21
        /// Luma, Cb, Cr.
        case i420
    }

    /// The arrangement of the planes.
    public let arrangement: Arrangement
    /// Which of `PictureFormat.planes` are the arrangement's planes, in its order: YV12 is I420 with the
    /// last two exchanged.
    public let planes: [Int]

    /// - Parameter color: the encoder's expected colours.
    /// - Returns: nil if the source must be converted: another arrangement or colour encoding, fields to be
    ///   woven, or an odd size, for which the encoder needs a margin that the camera's buffer lacks.
    public init?(_ format: PictureFormat, color: ColorEncoding) {
        guard format.firstField == nil, format.size.width % 2 == 0, format.size.height % 2 == 0,
            format.color.range == color.range, format.color.matrix == color.matrix
        else { return nil }
        switch format.pixelFormat.arrangement {
        case .semiPlanar(2, 2, let firstChroma):
            arrangement = firstChroma == .cb ? .nv12 : .nv21
            planes = [0, 1]
        case .planar(2, 2, let firstChroma):
            arrangement = .i420
            planes = firstChroma == .cb ? [0, 1, 2] : [0, 2, 1]
        default:
            return nil
        }
    }
}
