import Bitstream

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

// MARK: Recovery points

/// Determines the correct pictures if decoding began at a recovery point.
///
/// Pictures before that point in output order may refer to pictures never decoded (H.264, D.2.8: leading
/// pictures of an open GOP, and pictures being refreshed; H.265, D.3.8).
struct RecoveryPointTracker {
    /// The reason to count for pictures that are not correct yet.
    let omission: Omission
    private let codec: Codec
    /// The number of frames still to be refreshed (H.264).
    private var framesLeft: Int
    /// The place in output order from which pictures are correct; nil if not known yet.
    private var order: Int?
    /// The place in output order of the first correct picture in decoding order.
    private var orderOfFirstRight: Int?
    private var isOver = false
    private var followsReference = false
    private var isRight = false

    /// - Parameters:
    ///   - role: the role of the first decoded picture, which must be passed to `hides` next.
    ///   - point: the recovery point in its access unit.
    init(at role: PictureRole, _ point: RecoveryPoint, _ codec: Codec, countedAs omission: Omission) {
        (self.codec, self.omission) = (codec, omission)
        switch codec {
        case .h264: framesLeft = point.count
        case .hevc: (framesLeft, order) = (0, role.order.map { $0 &+ point.count })
        }
    }

    /// Whether pictures become correct later than by another recovery point, in the current access unit.
    func isLater(than point: RecoveryPoint, at role: PictureRole) -> Bool {
        guard orderOfFirstRight == nil else { return false }
        switch codec {
        case .h264: return framesLeft > point.count
        case .hevc: return (order ?? .max) > (role.order ?? .max) &+ point.count
        }
    }

    /// Whether the next picture, in decoding order, is not correct yet.
    mutating func hides(_ role: PictureRole) -> Bool {
        if isOver { return false }
        // The second field of a frame is treated like its first.
        if !role.isSecondField { isRight = isRight(role) }
        return !isRight
    }

    private mutating func isRight(_ role: PictureRole) -> Bool {
        // `frame_num`, by which H.264 counts, grows after each reference frame (7.4.3).
        if followsReference, framesLeft > 0 { framesLeft -= 1 }
        followsReference = !role.isDisposable
        guard let count = role.order else { return framesLeft == 0 }
        if framesLeft > 0 {
            // No shown picture may precede a hidden one.
            order = max(order ?? .min, count &+ 1)
            return false
        }
        guard count >= order ?? .min else { return false }
        // Pictures shown before the first correct one follow it directly, if at all.
        if let orderOfFirstRight {
            isOver = count > orderOfFirstRight
        } else {
            orderOfFirstRight = count
            if codec == .h264 { order = count }
        }
        return true
    }
}
