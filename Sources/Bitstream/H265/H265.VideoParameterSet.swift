import CamPictures

extension H265 {
    /// A video parameter set (7.3.2.1, 7.4.3.1), without the extension for further layers (Annex F).
    public struct VideoParameterSet: Equatable, Sendable {
        /// The id by which sequence parameter sets refer to this set, 0 to 15.
        public let vps_video_parameter_set_id: Int
        /// Whether the base layer is in the stream.
        public let vps_base_layer_internal_flag: Bool
        /// Whether the base layer exists, here or outside the stream.
        public let vps_base_layer_available_flag: Bool
        /// The most layers, less 1.
        public let vps_max_layers_minus1: Int
        /// The most temporal sub-layers, less 1: 0 to 6.
        public let vps_max_sub_layers_minus1: Int
        /// Whether decoding can switch up to a higher sub-layer at any picture.
        public let vps_temporal_id_nesting_flag: Bool
        /// Profile, tier and level.
        public let profile_tier_level: ProfileTierLevel
        /// The orderings by rising `TemporalId`; only the ordering of the highest sub-layer if it applies
        /// to all.
        public let subLayerOrderings: [SubLayerOrdering]
        /// The highest `nuh_layer_id`.
        public let vps_max_layer_id: Int
        /// `layer_id_included_flag`: the layers of the sets from 1 on, one bit per layer.
        public let layerSets: [UInt64]
        /// Clock ticks; `nil` if not stated.
        public let timing: TimingInformation?
        /// The reference decoders for sets of layers; at most 1024.
        public let hrd_parameters: [LayerSetHRD]
        /// Whether the set has an extension, which is not read.
        public let vps_extension_flag: Bool

        /// A reference decoder for one set of layers.
        public struct LayerSetHRD: Equatable, Sendable {
            /// The set.
            public let hrd_layer_set_idx: Int
            /// The parameters.
            public let parameters: HRDParameters
        }

        /// Reads a video parameter set NAL unit (type 32), given without start code.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.hevc(bytes) { $0 == .videoParameterSet }
                return try VideoParameterSet(&reader)
            }
        }

        /// video_parameter_set_rbsp() (7.3.2.1).
        init(_ reader: inout RBSPReader) throws(SyntaxError) {
            vps_video_parameter_set_id = try reader.u(4, "vps_video_parameter_set_id")
            vps_base_layer_internal_flag = try reader.flag("vps_base_layer_internal_flag")
            vps_base_layer_available_flag = try reader.flag("vps_base_layer_available_flag")
            vps_max_layers_minus1 = try reader.u(6, "vps_max_layers_minus1")
            vps_max_sub_layers_minus1 = try reader.u(3, "vps_max_sub_layers_minus1", in: 0...6)
            vps_temporal_id_nesting_flag = try reader.flag("vps_temporal_id_nesting_flag")
            _ = try reader.u(16, "vps_reserved_0xffff_16bits")  // Decoders shall ignore its value.
            profile_tier_level = try ProfileTierLevel(
                &reader, maxNumSubLayersMinus1: vps_max_sub_layers_minus1)
            subLayerOrderings = try SubLayerOrdering.read(
                &reader, prefix: "vps_", maxSubLayersMinus1: vps_max_sub_layers_minus1)
            vps_max_layer_id = try reader.u(6, "vps_max_layer_id", in: 0...62)
            layerSets = try Self.layerSets(&reader, highestLayer: vps_max_layer_id)
            if try reader.flag("vps_timing_info_present_flag") {
                timing = try TimingInformation(&reader, prefix: "vps_")
                hrd_parameters = try Self.hrdParameters(
                    &reader, layerSetCount: layerSets.count + 1, vps_max_sub_layers_minus1)
            } else {
                timing = nil
                hrd_parameters = []
            }
            vps_extension_flag = try reader.flag("vps_extension_flag")
        }

        private static func layerSets(
            _ reader: inout RBSPReader, highestLayer: Int
        ) throws(SyntaxError) -> [UInt64] {
            let count = try reader.ue("vps_num_layer_sets_minus1", in: 0...1023)
            var sets: [UInt64] = []
            for i in 0..<count {
                var layers: UInt64 = 0
                for j in 0...highestLayer where try reader.flag("layer_id_included_flag", i + 1, j) {
                    layers |= 1 << UInt64(j)
                }
                sets.append(layers)
            }
            return sets
        }

        private static func hrdParameters(
            _ reader: inout RBSPReader, layerSetCount: Int, _ maxSubLayersMinus1: Int
        ) throws(SyntaxError) -> [LayerSetHRD] {
            let count = try reader.ue("vps_num_hrd_parameters", in: 0...layerSetCount)
            var all: [LayerSetHRD] = []
            for i in 0..<count {
                let layerSet = try reader.ue("hrd_layer_set_idx", i, in: 0...1023)
                let hasCommon = i == 0 ? true : try reader.flag("cprms_present_flag", i)
                let parameters = try HRDParameters(
                    &reader, common: hasCommon ? nil : all.last?.parameters.common,
                    maxNumSubLayersMinus1: maxSubLayersMinus1)
                all.append(LayerSetHRD(hrd_layer_set_idx: layerSet, parameters: parameters))
            }
            return all
        }
    }
}

// MARK: - Sub-layers

extension H265 {
    /// The requirements for decoding a stream up to a temporal sub-layer (7.4.3.1, 7.4.3.2.1). In the
    /// standard, the names of the elements begin with `vps_` or `sps_`.
    public struct SubLayerOrdering: Equatable, Sendable {
        /// Picture buffers that decoding needs, less 1: 0 to 15.
        public let max_dec_pic_buffering_minus1: Int
        /// The number of pictures that may precede a picture in decoding order and follow it in output
        /// order.
        public let max_num_reorder_pics: Int
        /// The number of pictures that may precede a picture in output order and follow it in decoding
        /// order, beyond `max_num_reorder_pics`, plus 1; 0 for no limit.
        public let max_latency_increase_plus1: Int

        /// Reads the orderings of all sub-layers, or only of the highest, after
        /// `sub_layer_ordering_info_present_flag` in a `prefix` parameter set.
        static func read(
            _ reader: inout RBSPReader, prefix: String, maxSubLayersMinus1: Int
        ) throws(SyntaxError) -> [SubLayerOrdering] {
            let isForAll = try reader.flag(prefix + "sub_layer_ordering_info_present_flag")
            var orderings: [SubLayerOrdering] = []
            for i in (isForAll ? 0 : maxSubLayersMinus1)...maxSubLayersMinus1 {
                orderings.append(
                    SubLayerOrdering(
                        max_dec_pic_buffering_minus1: try reader.ue(
                            prefix + "max_dec_pic_buffering_minus1", i, in: 0...15),
                        max_num_reorder_pics: try reader.ue(prefix + "max_num_reorder_pics", i, in: 0...15),
                        max_latency_increase_plus1: try reader.ue(prefix + "max_latency_increase_plus1", i)))
            }
            return orderings
        }
    }
}

// MARK: - Timing

extension H265 {
    /// Clock ticks (7.4.3.1, E.3.1). In the standard, the names of the elements begin with `vps_` or
    /// `vui_`.
    public struct TimingInformation: Equatable, Sendable {
        /// Units of the clock of frequency `time_scale` in a tick, which is one picture.
        public let num_units_in_tick: Int
        /// Units of the clock in a second.
        public let time_scale: Int
        /// Ticks between pictures whose order counts differ by 1, less 1; `nil` if order counts do not
        /// determine the time.
        public let num_ticks_poc_diff_one_minus1: Int?

        /// Reads the elements after `timing_info_present_flag`, whose names begin with `prefix`.
        init(_ reader: inout RBSPReader, prefix: String) throws(SyntaxError) {
            num_units_in_tick = try reader.u(32, prefix + "num_units_in_tick")
            time_scale = try reader.u(32, prefix + "time_scale")
            let isProportional = try reader.flag(prefix + "poc_proportional_to_timing_flag")
            num_ticks_poc_diff_one_minus1 =
                isProportional ? try reader.ue(prefix + "num_ticks_poc_diff_one_minus1") : nil
        }
    }
}

extension H265.TimingInformation {
    /// Frames a second, for pictures that are frames or fields; `nil` without a usable rate.
    func frameRate(areFields: Bool) -> FrameRate? {
        FrameRate(announced: time_scale, in: num_units_in_tick * (areFields ? 2 : 1))
    }
}

extension H265.VideoParameterSet {
    /// Pictures a second, where fields of a field sequence are pictures; `nil` without a usable rate.
    public var pictureRate: FrameRate? { timing?.frameRate(areFields: false) }
}
