extension H265 {
    /// The beginning of a slice segment header (7.3.6.1, 7.4.7.1): the elements that show the type, the
    /// beginning, the order and the references of a picture.
    public struct SliceHeader: Equatable, Sendable {
        /// Whether a picture begins here.
        public let first_slice_segment_in_pic_flag: Bool
        /// Whether pictures not yet output are dropped; `nil` except in intra random access point pictures.
        public let no_output_of_prior_pics_flag: Bool?
        /// The picture parameter set in use.
        public let slice_pic_parameter_set_id: Int
        /// Whether the segment inherits the header of the previous segment; `nil` if unreadable without the
        /// parameter sets.
        public let dependent_slice_segment_flag: Bool?
        /// The address of the first coding tree block, 0 in a picture's first segment; `nil` if unreadable
        /// without the parameter sets.
        public let slice_segment_address: Int?
        /// The following elements; `nil` in dependent segments and without the parameter sets.
        public let slice: Slice?

        /// The kind of prediction (Table 7-7).
        public enum Kind: Int, Sendable {
            /// Prediction from one or two other pictures at a time.
            case b
            /// Prediction from one other picture at a time.
            case p
            /// Prediction within the picture only.
            case i
        }

        /// The elements that the segments of a slice share.
        public struct Slice: Equatable, Sendable {
            /// 0 B, 1 P, 2 I.
            public let slice_type: Int
            /// Whether the picture is shown.
            public let pic_output_flag: Bool
            /// 0 to 2 if the three color planes are coded separately, else 0.
            public let colour_plane_id: Int
            /// The low bits of the picture order count; 0 in IDR pictures.
            public let slice_pic_order_cnt_lsb: Int
            /// The short-term reference pictures of this and later pictures; `nil` in IDR pictures.
            public let shortTermReferences: ShortTermReferencePictureSet?
            /// The long-term reference pictures.
            public let longTermReferences: [LongTermReference]
            /// Whether motion vectors of another picture are used for prediction.
            public let slice_temporal_mvp_enabled_flag: Bool

            /// The kind of prediction.
            public var kind: Kind { Kind(rawValue: slice_type) ?? .i }
        }

        /// A long-term reference picture.
        public struct LongTermReference: Equatable, Sendable {
            /// The low bits of the picture order count.
            public let pocLSB: Int
            /// Whether the current picture refers to this picture; false if only later pictures do.
            public let isUsedByCurrent: Bool
            /// The difference of the high bits of the picture order count; `nil` if the low bits suffice.
            public let delta_poc_msb_cycle_lt: Int?
        }

        /// Reads the header of a slice segment NAL unit of the base layer, given without start code.
        ///
        /// Allocates nothing without parameter sets, and reads no more than the first few bytes.
        ///
        /// - Parameters:
        ///   - sequenceParameterSet: the set that the picture parameter set refers to.
        ///   - pictureParameterSet: the set that the slice refers to. Without both sets, reading ends after
        ///     `slice_pic_parameter_set_id`.
        public init(
            _ nalUnit: RawSpan, sequenceParameterSet: SequenceParameterSet? = nil,
            pictureParameterSet: PictureParameterSet? = nil
        ) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (header, reader) = try RBSPReader.hevc(bytes) { $0.isSliceSegment }
                return try SliceHeader(&reader, type: header.nal_unit_type) { _ in
                    (sequenceParameterSet, pictureParameterSet)
                }
            }
        }

        /// slice_segment_header() (7.3.6.1) as far as `slice_temporal_mvp_enabled_flag`.
        ///
        /// - Parameter parameterSets: returns the sets in force for a `slice_pic_parameter_set_id`.
        init(
            _ reader: inout RBSPReader, type: NALUnitType,
            parameterSets: (Int) -> (SequenceParameterSet?, PictureParameterSet?)
        ) throws(SyntaxError) {
            first_slice_segment_in_pic_flag = try reader.flag("first_slice_segment_in_pic_flag")
            no_output_of_prior_pics_flag =
                type.isIntraRandomAccessPoint ? try reader.flag("no_output_of_prior_pics_flag") : nil
            slice_pic_parameter_set_id = try reader.ue("slice_pic_parameter_set_id", in: 0...63)
            let (sequence, picture) = parameterSets(slice_pic_parameter_set_id)
            guard let sequence, let picture else {
                dependent_slice_segment_flag = first_slice_segment_in_pic_flag ? false : nil
                slice_segment_address = first_slice_segment_in_pic_flag ? 0 : nil
                slice = nil
                return
            }
            var isDependent = false
            var address = 0
            if !first_slice_segment_in_pic_flag {
                if picture.dependent_slice_segments_enabled_flag {
                    isDependent = try reader.flag("dependent_slice_segment_flag")
                }
                let count = sequence.pictureSizeInCodingTreeBlocks
                address = try reader.u(
                    bitsToChoose(among: count), "slice_segment_address", in: 0...count - 1)
            }
            dependent_slice_segment_flag = isDependent
            slice_segment_address = address
            slice = isDependent ? nil : try Slice(&reader, type: type, sequence, picture)
        }
    }
}

/// Ceil( Log2( count ) ): the bits of an index below `count`, which is at least 1.
private func bitsToChoose(among count: Int) -> Int { Int.bitWidth - (count - 1).leadingZeroBitCount }

extension H265.SliceHeader.Slice {
    fileprivate init(
        _ reader: inout RBSPReader, type: H265.NALUnitType, _ sequence: H265.SequenceParameterSet,
        _ picture: H265.PictureParameterSet
    ) throws(SyntaxError) {
        for i in 0..<picture.num_extra_slice_header_bits { _ = try reader.flag("slice_reserved_flag", i) }
        slice_type = try reader.ue("slice_type", in: 0...2)
        pic_output_flag = picture.output_flag_present_flag ? try reader.flag("pic_output_flag") : true
        colour_plane_id =
            sequence.separate_colour_plane_flag ? try reader.u(2, "colour_plane_id", in: 0...2) : 0
        guard !type.isIDR else {
            slice_pic_order_cnt_lsb = 0
            shortTermReferences = nil
            longTermReferences = []
            slice_temporal_mvp_enabled_flag = false
            return
        }
        slice_pic_order_cnt_lsb = try reader.u(
            sequence.log2_max_pic_order_cnt_lsb_minus4 + 4, "slice_pic_order_cnt_lsb")
        shortTermReferences = try Self.shortTermReferences(&reader, sequence)
        longTermReferences =
            sequence.long_term_ref_pics_present_flag ? try Self.longTermReferences(&reader, sequence) : []
        slice_temporal_mvp_enabled_flag =
            sequence.sps_temporal_mvp_enabled_flag
            ? try reader.flag("slice_temporal_mvp_enabled_flag") : false
    }

    private static func shortTermReferences(
        _ reader: inout RBSPReader, _ sequence: H265.SequenceParameterSet
    ) throws(SyntaxError) -> H265.ShortTermReferencePictureSet {
        let sets = sequence.shortTermReferencePictureSets
        guard try reader.flag("short_term_ref_pic_set_sps_flag") else {
            return try H265.ShortTermReferencePictureSet(&reader, after: sets, isInSlice: true)
        }
        guard !sets.isEmpty else {
            throw reader.error(
                "short_term_ref_pic_set_sps_flag", .outOfRange(value: 1, allowed: 0...0))
        }
        guard sets.count > 1 else { return sets[0] }
        let index = try reader.u(
            bitsToChoose(among: sets.count), "short_term_ref_pic_set_idx", in: 0...sets.count - 1)
        return sets[index]
    }

    private static func longTermReferences(
        _ reader: inout RBSPReader, _ sequence: H265.SequenceParameterSet
    ) throws(SyntaxError) -> [H265.SliceHeader.LongTermReference] {
        let known = sequence.longTermReferencePictures
        let namedCount = known.isEmpty ? 0 : try reader.ue("num_long_term_sps", in: 0...known.count)
        let count = namedCount + (try reader.ue("num_long_term_pics", in: 0...32))
        var references: [H265.SliceHeader.LongTermReference] = []
        for i in 0..<count {
            let lsb: Int
            let isUsed: Bool
            if i < namedCount {
                let index =
                    known.count > 1
                    ? try reader.u(bitsToChoose(among: known.count), "lt_idx_sps", i, in: 0...known.count - 1)
                    : 0
                lsb = known[index].lt_ref_pic_poc_lsb_sps
                isUsed = known[index].used_by_curr_pic_lt_sps_flag
            } else {
                lsb = try reader.u(sequence.log2_max_pic_order_cnt_lsb_minus4 + 4, "poc_lsb_lt", i)
                isUsed = try reader.flag("used_by_curr_pic_lt_flag", i)
            }
            let hasHighBits = try reader.flag("delta_poc_msb_present_flag", i)
            let cycle = hasHighBits ? try reader.ue("delta_poc_msb_cycle_lt", i) : nil
            references.append(
                H265.SliceHeader.LongTermReference(
                    pocLSB: lsb, isUsedByCurrent: isUsed, delta_poc_msb_cycle_lt: cycle))
        }
        return references
    }
}

// MARK: - Short-term reference pictures

extension H265 {
    /// A short-term reference picture set (7.3.7, 7.4.8): the nearby pictures to which a picture and later
    /// pictures in decoding order may refer.
    public struct ShortTermReferencePictureSet: Equatable, Sendable {
        /// One picture of the set.
        public struct Reference: Equatable, Sendable {
            /// The picture's order count less the current picture's order count.
            public let deltaPOC: Int
            /// Whether the current picture refers to this picture; false if only later pictures do.
            public let isUsedByCurrent: Bool
        }

        /// Pictures that precede the current one in output order, nearest first (`DeltaPocS0`).
        public let preceding: [Reference]
        /// Pictures that follow the current one in output order, nearest first (`DeltaPocS1`).
        public let following: [Reference]

        /// `NumDeltaPocs`.
        var count: Int { preceding.count + following.count }

        /// The most pictures in a set (7.4.8, A.4.2).
        private static let maximumCount = 16

        /// st_ref_pic_set( stRpsIdx ).
        ///
        /// - Parameter sets: the earlier sets of the sequence parameter set, or for a set in a slice all
        ///   sets.
        /// - Parameter isInSlice: whether the set is in a slice segment header.
        init(
            _ reader: inout RBSPReader, after sets: [ShortTermReferencePictureSet], isInSlice: Bool
        ) throws(SyntaxError) {
            let isPredicted =
                sets.isEmpty ? false : try reader.flag("inter_ref_pic_set_prediction_flag")
            if isPredicted {
                try self.init(predicted: &reader, sets, isInSlice: isInSlice)
            } else {
                try self.init(explicit: &reader)
            }
        }

        private init(explicit reader: inout RBSPReader) throws(SyntaxError) {
            let negative = try reader.ue("num_negative_pics", in: 0...Self.maximumCount)
            let positive = try reader.ue("num_positive_pics", in: 0...Self.maximumCount - negative)
            var delta = 0
            var preceding: [Reference] = []
            for i in 0..<negative {
                delta -= try reader.ue("delta_poc_s0_minus1", i, in: 0...32767) + 1
                let isUsed = try reader.flag("used_by_curr_pic_s0_flag", i)
                preceding.append(Reference(deltaPOC: delta, isUsedByCurrent: isUsed))
            }
            delta = 0
            var following: [Reference] = []
            for i in 0..<positive {
                delta += try reader.ue("delta_poc_s1_minus1", i, in: 0...32767) + 1
                let isUsed = try reader.flag("used_by_curr_pic_s1_flag", i)
                following.append(Reference(deltaPOC: delta, isUsedByCurrent: isUsed))
            }
            self.preceding = preceding
            self.following = following
        }

        private init(
            predicted reader: inout RBSPReader, _ sets: [ShortTermReferencePictureSet], isInSlice: Bool
        ) throws(SyntaxError) {
            let distance = isInSlice ? try reader.ue("delta_idx_minus1", in: 0...sets.count - 1) + 1 : 1
            let source = sets[sets.count - distance]
            let sign = try reader.flag("delta_rps_sign")
            let magnitude = try reader.ue("abs_delta_rps_minus1", in: 0...32767) + 1
            let deltaRPS = sign ? -magnitude : magnitude

            // The source's pictures in the order of the flags, and last the source's own picture.
            let candidates = source.preceding.map(\.deltaPOC) + source.following.map(\.deltaPOC) + [0]
            var references: [Reference] = []
            for (j, candidate) in candidates.enumerated() {
                let isUsed = try reader.flag("used_by_curr_pic_flag", j)
                let isKept = isUsed ? true : try reader.flag("use_delta_flag", j)
                let delta = candidate + deltaRPS
                if isKept, delta != 0 {
                    references.append(Reference(deltaPOC: delta, isUsedByCurrent: isUsed))
                }
            }
            guard references.count <= Self.maximumCount else {
                throw reader.error(
                    "NumDeltaPocs", .outOfRange(value: references.count, allowed: 0...Self.maximumCount))
            }
            // Equations 7-61 and 7-62 give the same order.
            preceding = references.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
            following = references.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
        }
    }
}
