/// The relation of a picture to other pictures, from its first slice.
public struct PictureRole: Sendable, Equatable {
    /// Whether decoding can begin here: an IDR picture, or one of H.265's other random access points (BLA, CRA).
    public var isEntryPoint = false
    /// Where pictures become correct if decoding begins here; nil if the stream does not declare that.
    public var recoveryPoint: RecoveryPoint?
    /// Its place in output order among the pictures around it; nil if it cannot be read.
    public var order: Int?
    /// Whether no other picture refers to this one.
    public var isDisposable = false
    /// Whether this is the second field of a frame; the first field is the previous access unit (H.264).
    public var isSecondField = false
    /// Whether it may refer to pictures before the last random access point (RASL, H.265): it cannot be
    /// decoded if decoding begins there.
    public var isSkippedLeading = false
    /// Whether later pictures cannot refer to earlier ones, even if the stream continues (BLA, H.265).
    public var breaksSequence = false
    /// Whether the picture is meant to be shown (`pic_output_flag`, H.265).
    public var isForOutput = true

    /// Creates a role without any special property.
    public init() {}

    /// Whether decoding can begin here, even if pictures become correct only later.
    public var allowsEntry: Bool { isEntryPoint || recoveryPoint != nil }
}

extension PictureRole {
    /// - Parameters:
    ///   - slice: the picture's first, without start code.
    ///   - detector: the detector that has processed it.
    init(of slice: RawSpan, _ header: NALUnitHeader, _ detector: AccessUnitDetector) {
        switch header {
        case .h264(let header):
            isEntryPoint = header.nal_unit_type == .idrSlice
            isDisposable = header.nal_ref_idc == 0
            isSecondField = detector.isSecondField
        case .hevc(let header):
            let type = header.nal_unit_type
            isEntryPoint = type.isIntraRandomAccessPoint && header.nuh_layer_id == 0
            isSkippedLeading = type.rawValue == 8 || type.rawValue == 9
            breaksSequence = (16...18).contains(type.rawValue)
            let sets = detector.parameterSets.hevc
            guard let start = try? H265.SliceHeader(slice),
                case let (sequence?, picture?) = sets.inForce(
                    slice_pic_parameter_set_id: start.slice_pic_parameter_set_id)
            else { return }
            // Pictures of higher sub-layers may refer to a picture to which its sub-layer does not.
            isDisposable =
                type.isSubLayerNonReference
                && header.nuh_temporal_id_plus1 > sequence.sps_max_sub_layers_minus1
            guard picture.output_flag_present_flag else { return }
            let whole = try? H265.SliceHeader(
                slice, sequenceParameterSet: sequence, pictureParameterSet: picture)
            isForOutput = whole?.slice?.pic_output_flag ?? true
        }
    }
}
