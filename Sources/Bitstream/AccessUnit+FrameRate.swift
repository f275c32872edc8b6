import CamPictures

extension AccessUnit {
    /// The frame rate in the VUI of the access unit's first sequence parameter set; `nil` if there is no set,
    /// or it has none. Reads the whole set and allocates: call it once per stream, not per picture.
    public var statedFrameRate: FrameRate? {
        guard let set = units.first(where: { $0.header.parameterSetKind == .sequence }) else { return nil }
        return withUnsafeBytes { buffer in
            let nalUnit = buffer.bytes.extracting(set.bytes)
            return switch codec {
            case .h264: (try? H264.SequenceParameterSet(nalUnit))?.frameRate
            case .hevc: (try? H265.SequenceParameterSet(nalUnit))?.frameRate
            }
        }
    }
}
