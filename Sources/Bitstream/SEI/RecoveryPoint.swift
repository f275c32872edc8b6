/// A place where decoding may begin, though not with an IDR picture (H.264: D.1.8, D.2.8; H.265: D.2.8,
/// D.3.8).
public struct RecoveryPoint: Equatable, Sendable {
    /// How long it takes until pictures are correct: in H.264 `recovery_frame_cnt`, in values of `frame_num`,
    /// 0 or more; in H.265 `recovery_poc_cnt`, in picture order counts, which may be negative.
    public let count: Int
    /// Whether they are then identical to those of decoding that began earlier.
    public let exact_match_flag: Bool
    /// Whether the following pictures may refer to pictures that differ from those that the encoder used.
    public let broken_link_flag: Bool
    /// How slice groups affect it, 0 to 2; `nil` in H.265.
    public let changing_slice_group_idc: Int?

    /// recovery_point().
    init(_ reader: inout RBSPReader, _ codec: Codec) throws(SyntaxError) {
        count =
            switch codec {
            case .h264: try reader.ue("recovery_frame_cnt", in: 0...0xFFFF)
            case .hevc: try reader.se("recovery_poc_cnt", in: -0x8000...0x7FFF)
            }
        exact_match_flag = try reader.flag("exact_match_flag")
        broken_link_flag = try reader.flag("broken_link_flag")
        changing_slice_group_idc =
            codec == .h264 ? try reader.u(2, "changing_slice_group_idc", in: 0...2) : nil
    }
}
