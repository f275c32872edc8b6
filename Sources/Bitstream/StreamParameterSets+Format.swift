extension StreamParameterSets {
    /// What the sequence parameter set that came last says of the pictures; `nil` if none could be read.
    /// Allocates: for once a sequence, not once a picture.
    public var latestFormat: StreamFormat? {
        switch codec {
        case .h264: h264.latestSequence.map { StreamFormat($0) }
        case .hevc: hevc.latestSequence.map { StreamFormat($0) }
        }
    }

    /// How far the sequence parameter set that came last lets pictures move between decoding and output; `nil`
    /// where none could be read.
    public var reordering: PictureReordering? {
        switch codec {
        case .h264: h264.latestSequence.map { PictureReordering($0) }
        case .hevc: hevc.latestSequence.map { PictureReordering($0) }
        }
    }
}
