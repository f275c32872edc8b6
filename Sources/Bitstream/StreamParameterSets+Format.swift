extension StreamParameterSets {
    /// What the latest sequence parameter set states about the pictures; `nil` if none could be read.
    /// Allocates: use it once per sequence, not once per picture.
    public var latestFormat: StreamFormat? {
        switch codec {
        case .h264: h264.latestSequence.map { StreamFormat($0) }
        case .hevc: hevc.latestSequence.map { StreamFormat($0) }
        }
    }

    /// How far the latest sequence parameter set lets pictures move between decoding and output order; `nil`
    /// if none could be read.
    public var reordering: PictureReordering? {
        switch codec {
        case .h264: h264.latestSequence.map { PictureReordering($0) }
        case .hevc: hevc.latestSequence.map { PictureReordering($0) }
        }
    }
}
