extension SyntaxElement {
    /// What the value means, in words, such as "High profile" or "1920 samples before cropping"; `nil` where
    /// the name and the value say it all.
    ///
    /// - Parameter structure: the one that the element is from: some meanings depend on elements beside it.
    public func meaning(in structure: SyntaxStructure) -> String? {
        switch name {
        case "nal_unit_type":
            switch structure.codec {
            case .h264: H264.NALUnitType(rawValue: UInt8(truncatingIfNeeded: value))?.description
            case .hevc: H265.NALUnitType(rawValue: UInt8(truncatingIfNeeded: value))?.name
            }
        default: nil
        }
    }
}
