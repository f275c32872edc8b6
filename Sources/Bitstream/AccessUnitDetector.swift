/// Finds where access units begin, without access unit delimiters (H.264, 7.4.1.2.3 and 7.4.1.2.4; H.265,
/// 7.4.2.4.4).
///
/// Feed the detector every NAL unit of a stream in order; it keeps the parameter sets. For unreadable units
/// and slices without parameter sets it decides by the elements that it can read, so any input is safe. An
/// access unit has one primary coded picture, so each field is its own access unit.
///
/// Use a detector, which is a value, in one thread at a time.
public struct AccessUnitDetector: Sendable {
    /// Where a NAL unit belongs.
    public enum Boundary: Hashable, Sendable {
        /// The unit begins an access unit, together with any undecided units before it.
        case begins
        /// The unit belongs to the access unit of the previous unit, like any undecided units before it.
        case continues
        /// The unit belongs to the access unit of the unit after it (H.264's prefix NAL
        /// units, which precede each slice).
        case undecided
    }

    /// The readable parameter sets in force.
    public private(set) var parameterSets: StreamParameterSets
    /// Why the latest unit, a parameter set, was ignored, in which case the previous set stays in force;
    /// `nil` for any other unit.
    public private(set) var parameterSetError: SyntaxError?
    /// Whether the picture of the current access unit is the second field of a frame, and the previous access
    /// unit was its first (H.264, 3.30: a complementary field pair). False until its first slice is fed.
    ///
    /// Fields whose parameter sets are missing are not recognized; `memory_management_control_operation` 5,
    /// which comes late in the slice header, is ignored.
    public private(set) var isSecondField = false

    /// Whether a slice of the current access unit's picture was fed, even a damaged one.
    private var hasPicture = false
    /// Whether the next unit is the first of the stream, or the first after the end of one.
    private var isAtStart = true
    /// The first slice that could be read of the current picture; `nil` in H.265.
    private var slice: H264.PictureSlice?
    /// The first slice segment that could be read of the current picture; `nil` in H.264.
    private var segment: H265.PictureSegment?
    /// The picture of the previous access unit, if it is a field without a second one.
    private var unpairedField: H264.PictureSlice?

    /// Creates a detector at the start of a stream.
    public init(codec: Codec) { parameterSets = StreamParameterSets(codec: codec) }

    /// Takes the next NAL unit of the stream, given without start code, and says where it belongs.
    public mutating func next(_ nalUnit: RawSpan) -> Boundary {
        let boundary = place(nalUnit)
        parameterSetError = nil
        do throws(SyntaxError) {
            try parameterSets.insert(nalUnit)
        } catch {
            parameterSetError = error
        }
        return boundary
    }

    /// Returns where the next NAL unit belongs, judging by its first bytes. The result is that of `next` if
    /// these bytes contain the slice header up to the elements that show where a picture begins.
    ///
    /// The cost does not depend on the unit, because parameter sets are not parsed.
    public func peek(_ beginning: RawSpan) -> Boundary {
        var copy = self
        return copy.place(beginning)
    }

    private mutating func place(_ nalUnit: RawSpan) -> Boundary {
        switch NALUnitHeader(of: nalUnit, codec: parameterSets.codec) {
        case .h264(let header)? where !header.forbidden_zero_bit: next(nalUnit, header)
        case .hevc(let header)? where !header.forbidden_zero_bit: next(nalUnit, header)
        default: continueAccessUnit()
        }
    }
}

extension AccessUnitDetector {
    private mutating func beginAccessUnit() -> Boundary {
        if let slice, slice.isField, !isSecondField { unpairedField = slice } else { unpairedField = nil }
        (slice, segment) = (nil, nil)
        isSecondField = false
        hasPicture = false
        isAtStart = false
        return .begins
    }

    private mutating func continueAccessUnit() -> Boundary { isAtStart ? beginAccessUnit() : .continues }

    /// Places a unit that belongs before a picture: after a slice it begins an access unit.
    private mutating func leadPicture() -> Boundary {
        hasPicture ? beginAccessUnit() : continueAccessUnit()
    }

    /// Places a slice.
    private mutating func addSlice(beginsPicture: Bool) -> Boundary {
        defer { hasPicture = true }
        return hasPicture && beginsPicture ? beginAccessUnit() : continueAccessUnit()
    }

    /// Places the unit that ends a stream.
    private mutating func endStream() -> Boundary {
        defer { isAtStart = true }
        return continueAccessUnit()
    }
}

extension AccessUnitDetector {
    /// H.264, 7.4.1.2.3.
    private mutating func next(_ nalUnit: RawSpan, _ header: H264.NALUnitHeader) -> Boundary {
        switch header.nal_unit_type {
        case .nonIDRSlice, .idrSlice, .sliceDataPartitionA: addSlice(nalUnit)
        case .supplementalEnhancementInformation, .sequenceParameterSet, .pictureParameterSet,
            .accessUnitDelimiter:
            leadPicture()
        // Of types 14 to 18, only prefix NAL units may lie between two slices of a picture: they precede
        // slices.
        case .prefix: hasPicture ? .undecided : continueAccessUnit()
        case let type where (15...18).contains(type.rawValue): leadPicture()
        case .endOfStream: endStream()
        default: continueAccessUnit()
        }
    }

    private mutating func addSlice(_ nalUnit: RawSpan) -> Boundary {
        guard let next = try? H264.PictureSlice(nalUnit, parameterSets.h264), !next.isRedundant else {
            return addSlice(beginsPicture: false)
        }
        let boundary = addSlice(beginsPicture: slice.map(next.beginsPicture) ?? next.isAtOrigin)
        if slice == nil {
            slice = next
            isSecondField = unpairedField.map(next.isSecondField) ?? false
        }
        return boundary
    }

    /// H.265, 7.4.2.4.4.
    private mutating func next(_ nalUnit: RawSpan, _ header: H265.NALUnitHeader) -> Boundary {
        guard header.nuh_layer_id == 0 else { return continueAccessUnit() }
        switch header.nal_unit_type {
        case let type where type.isSliceSegment:
            return addSegment(nalUnit)
        case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .accessUnitDelimiter,
            .prefixSEI:
            return leadPicture()
        case let type where (41...44).contains(type.rawValue) || (48...55).contains(type.rawValue):
            return leadPicture()
        case .endOfBitstream: return endStream()
        default: return continueAccessUnit()
        }
    }
}

extension AccessUnitDetector {
    /// A picture begins with its first segment. If the first segment is lost, the type or order of a later
    /// segment differs from that of the previous picture.
    private mutating func addSegment(_ nalUnit: RawSpan) -> Boundary {
        let next = try? H265.PictureSegment(nalUnit, parameterSets.hevc)
        let isElsewhere = segment.flatMap { next?.belongsElsewhere(after: $0) } ?? false
        let boundary = addSlice(beginsPicture: nalUnit.hasFirstSliceSegmentFlag || isElsewhere)
        segment = segment ?? next
        return boundary
    }
}

extension RawSpan {
    /// `first_slice_segment_in_pic_flag`, the first bit after the header of an H.265 slice segment.
    fileprivate var hasFirstSliceSegmentFlag: Bool {
        let offset = H265.NALUnitHeader.byteCount
        return byteCount > offset && unsafeLoad(fromByteOffset: offset, as: UInt8.self) & 0x80 != 0
    }
}

// MARK: - Pictures of slices

extension H264 {
    /// The elements of a slice that identify its picture (7.4.1.2.4).
    struct PictureSlice: Sendable {
        private let header: NALUnitHeader
        private let slice: SliceHeader

        /// Reads a slice NAL unit (types 1, 2 and 5), given without start code, with the sets in force.
        init(_ nalUnit: RawSpan, _ parameterSets: ParameterSetsByID) throws(SyntaxError) {
            (header, slice) = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (header, reader) = try RBSPReader.h264(bytes) {
                    $0.isSlice || $0 == .sliceDataPartitionA
                }
                let slice = try SliceHeader(&reader, isIDR: header.nal_unit_type == .idrSlice) {
                    parameterSets.inForce(pic_parameter_set_id: $0)
                }
                return (header, slice)
            }
        }

        private var isIDR: Bool { header.nal_unit_type == .idrSlice }
        private var isReference: Bool { header.nal_ref_idc != 0 }

        /// Whether the slice belongs to a redundant coded picture.
        var isRedundant: Bool { (slice.picture?.redundant_pic_cnt ?? 0) > 0 }
        /// Whether the slice belongs to a field.
        var isField: Bool { slice.picture?.field_pic_flag ?? false }
        /// Whether the slice has the picture's first macroblock.
        var isAtOrigin: Bool { slice.first_mb_in_slice == 0 }

        /// Whether this slice belongs to a different picture than `first`, the first readable slice of the
        /// current picture. Both slices must belong to primary coded pictures.
        func beginsPicture(after first: PictureSlice) -> Bool {
            if slice.pic_parameter_set_id != first.slice.pic_parameter_set_id
                || isReference != first.isReference || isIDR != first.isIDR
            {
                return true
            }
            guard let picture = slice.picture, let other = first.slice.picture else { return isAtOrigin }
            return picture.differs(from: other)
                // No two slices of a picture have the same macroblock.
                || picture.colour_plane_id == other.colour_plane_id
                    && slice.first_mb_in_slice == first.slice.first_mb_in_slice
        }

        /// Whether this slice belongs to the second field of a frame whose first field contains a slice of
        /// the previous access unit (3.30: complementary field pairs).
        func isSecondField(after first: PictureSlice) -> Bool {
            guard let picture = slice.picture, let other = first.slice.picture else { return false }
            return picture.field_pic_flag && other.field_pic_flag
                && picture.bottom_field_flag != other.bottom_field_flag
                && picture.frame_num == other.frame_num && isReference == first.isReference && !isIDR
        }
    }
}

extension H264.SliceHeader.Picture {
    /// Whether an element differs that is equal in all slices of a picture.
    fileprivate func differs(from other: Self) -> Bool {
        if frame_num != other.frame_num || field_pic_flag != other.field_pic_flag
            || bottom_field_flag != other.bottom_field_flag || idr_pic_id != other.idr_pic_id
        {
            return true
        }
        // Elements of one type of picture order count are constant in streams of the other types.
        return pic_order_cnt_lsb != other.pic_order_cnt_lsb
            || delta_pic_order_cnt_bottom != other.delta_pic_order_cnt_bottom
            || delta_pic_order_cnt != other.delta_pic_order_cnt
    }
}

extension H265 {
    /// The elements of a slice segment that identify its picture (7.4.2.2, 7.4.7.1).
    struct PictureSegment: Sendable {
        private let type: NALUnitType
        /// The low bits of the picture order count; nil in dependent segments and without parameter sets.
        private let order: Int?

        /// Reads a slice segment NAL unit, given without start code, with the sets in force.
        init(_ nalUnit: RawSpan, _ parameterSets: ParameterSetsByID) throws(SyntaxError) {
            (type, order) = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (header, reader) = try RBSPReader.hevc(bytes) { $0.isSliceSegment }
                let slice = try SliceHeader(&reader, type: header.nal_unit_type) {
                    parameterSets.inForce(slice_pic_parameter_set_id: $0)
                }
                return (header.nal_unit_type, slice.slice?.slice_pic_order_cnt_lsb)
            }
        }

        /// Whether this segment, which does not begin a picture, belongs to a different picture than an
        /// earlier segment. The first segment of its picture is then missing.
        func belongsElsewhere(after first: PictureSegment) -> Bool {
            if type != first.type { return true }
            guard let order, let other = first.order else { return false }
            return order != other
        }
    }
}
