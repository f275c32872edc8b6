// MARK: - H.264

extension H264 {
    /// The times at which a picture is decoded and shown, and its structure (D.1.3, D.2.3).
    public struct PictureTiming: Equatable, Sendable {
        /// Clock ticks from the last buffering period to the picture's decoding; `nil` without HRD
        /// parameters.
        public let cpb_removal_delay: Int?
        /// Clock ticks from decoding to output; `nil` without HRD parameters.
        public let dpb_output_delay: Int?
        /// The structure of the picture (Table D-1): 0 a frame, 1 and 2 a field, 3 to 6 consecutive fields,
        /// 7 and 8 a doubled or tripled frame; `nil` if the VUI rules it out.
        public let pic_struct: Int?
        /// The clock timestamps of the fields or frames, at most three; `nil` for absent timestamps.
        public let clockTimestamps: [ClockTimestamp?]

        /// The time of day of a field or frame.
        public struct ClockTimestamp: Equatable, Sendable {
            /// The scan type of the source (Table D-2): 0 progressive, 1 interlaced, 2 unknown.
            public let ct_type: Int
            /// Whether the time counts fields.
            public let nuit_field_based_flag: Bool
            /// The method of counting frames and dropping numbers (Table D-3).
            public let counting_type: Int
            /// Whether the time is discontinuous here.
            public let discontinuity_flag: Bool
            /// Whether numbers were dropped.
            public let cnt_dropped_flag: Bool
            /// The number of the frame within the second.
            public let n_frames: Int
            /// 0 to 59; `nil` if the value has not changed.
            public let seconds_value: Int?
            /// 0 to 59; `nil` if the value has not changed.
            public let minutes_value: Int?
            /// 0 to 23; `nil` if the value has not changed.
            public let hours_value: Int?
            /// The offset to add, in clock ticks.
            public let time_offset: Int
        }

        /// `NumClockTS` by `pic_struct` (Table D-1).
        private static let timestampCounts = [1, 1, 1, 2, 2, 3, 3, 2, 3]

        /// pic_timing( payloadSize ).
        init(_ reader: inout RBSPReader, _ sequence: SequenceParameterSet) throws(SyntaxError) {
            let vui = sequence.vui_parameters
            let hrd = vui?.nal_hrd_parameters ?? vui?.vcl_hrd_parameters
            if let hrd {
                cpb_removal_delay = try reader.u(hrd.cpb_removal_delay_length_minus1 + 1, "cpb_removal_delay")
                dpb_output_delay = try reader.u(hrd.dpb_output_delay_length_minus1 + 1, "dpb_output_delay")
            } else {
                cpb_removal_delay = nil
                dpb_output_delay = nil
            }
            guard vui?.pic_struct_present_flag == true else {
                pic_struct = nil
                clockTimestamps = []
                return
            }
            let structure = try reader.u(4, "pic_struct", in: 0...8)
            pic_struct = structure
            var timestamps: [ClockTimestamp?] = []
            for i in 0..<Self.timestampCounts[structure] {
                let isPresent = try reader.flag("clock_timestamp_flag", i)
                // E.2.2 infers a length of 24 if there are no HRD parameters.
                timestamps.append(
                    isPresent
                        ? try ClockTimestamp(&reader, offsetLength: hrd?.time_offset_length ?? 24) : nil)
            }
            clockTimestamps = timestamps
        }
    }
}

extension H264.PictureTiming.ClockTimestamp {
    fileprivate init(_ reader: inout RBSPReader, offsetLength: Int) throws(SyntaxError) {
        ct_type = try reader.u(2, "ct_type")
        nuit_field_based_flag = try reader.flag("nuit_field_based_flag")
        counting_type = try reader.u(5, "counting_type")
        let isFull = try reader.flag("full_timestamp_flag")
        discontinuity_flag = try reader.flag("discontinuity_flag")
        cnt_dropped_flag = try reader.flag("cnt_dropped_flag")
        n_frames = try reader.u(8, "n_frames")
        let hasSeconds = isFull ? true : try reader.flag("seconds_flag")
        seconds_value = hasSeconds ? try reader.u(6, "seconds_value", in: 0...59) : nil
        let hasMinutes = isFull ? true : hasSeconds ? try reader.flag("minutes_flag") : false
        minutes_value = hasMinutes ? try reader.u(6, "minutes_value", in: 0...59) : nil
        let hasHours = isFull ? true : hasMinutes ? try reader.flag("hours_flag") : false
        hours_value = hasHours ? try reader.u(5, "hours_value", in: 0...23) : nil
        time_offset = offsetLength > 0 ? try reader.i(offsetLength, "time_offset") : 0
    }
}

extension H264 {
    /// buffering_period( payloadSize ) (D.1.2).
    static func bufferingPeriod(
        _ reader: inout RBSPReader, _ parameterSets: ParameterSetsByID
    ) throws(SyntaxError) -> SEIMessage.Content {
        let id = try reader.ue("seq_parameter_set_id", in: 0...31)
        let vui = parameterSets.sequence[id]?.vui_parameters
        for case .some(let parameters) in [vui?.nal_hrd_parameters, vui?.vcl_hrd_parameters] {
            let length = parameters.initial_cpb_removal_delay_length_minus1 + 1
            for index in parameters.schedules.indices {
                _ = try reader.u(length, "initial_cpb_removal_delay", index)
                _ = try reader.u(length, "initial_cpb_removal_delay_offset", index)
            }
        }
        return .bufferingPeriod(sequenceParameterSetID: id)
    }
}

// MARK: - H.265

extension H265 {
    /// The times at which a picture is decoded and shown, and its structure (D.2.3, D.3.3).
    public struct PictureTiming: Equatable, Sendable {
        /// The structure of the picture (Table D.2): 0 a frame, 1 and 2 a field, 3 to 6 consecutive fields,
        /// 7 and 8 a doubled or tripled frame, 9 to 12 a field paired with another field; `nil` if the VUI
        /// rules it out.
        public let pic_struct: Int?
        /// The scan type of the source: 0 interlaced, 1 progressive, 2 unknown; `nil` if the VUI rules it
        /// out.
        public let source_scan_type: Int?
        /// Whether the picture repeats the previous one; `nil` if the VUI rules it out.
        public let duplicate_flag: Bool?
        /// Clock ticks from the decoding of the previous picture to the decoding of this picture, less 1;
        /// `nil` without HRD parameters.
        public let au_cpb_removal_delay_minus1: Int?
        /// Clock ticks from decoding to output; `nil` without HRD parameters.
        public let pic_dpb_output_delay: Int?

        /// pic_timing( payloadSize ).
        init(_ reader: inout RBSPReader, _ sequence: SequenceParameterSet) throws(SyntaxError) {
            let vui = sequence.vui_parameters
            if vui?.frame_field_info_present_flag == true {
                pic_struct = try reader.u(4, "pic_struct", in: 0...12)
                source_scan_type = try reader.u(2, "source_scan_type")
                duplicate_flag = try reader.flag("duplicate_flag")
            } else {
                pic_struct = nil
                source_scan_type = nil
                duplicate_flag = nil
            }
            guard let common = vui?.hrd_parameters?.common,
                common.nal_hrd_parameters_present_flag || common.vcl_hrd_parameters_present_flag
            else {
                au_cpb_removal_delay_minus1 = nil
                pic_dpb_output_delay = nil
                return
            }
            au_cpb_removal_delay_minus1 = try reader.u(
                common.au_cpb_removal_delay_length_minus1 + 1, "au_cpb_removal_delay_minus1")
            pic_dpb_output_delay = try reader.u(
                common.dpb_output_delay_length_minus1 + 1, "pic_dpb_output_delay")
            if let subPicture = common.subPicture { try Self.readDecodingUnits(&reader, subPicture) }
        }

        /// The elements for decoding units, which are parts of a picture.
        private static func readDecodingUnits(
            _ reader: inout RBSPReader, _ parameters: HRDParameters.SubPicture
        ) throws(SyntaxError) {
            _ = try reader.u(parameters.dpb_output_delay_du_length_minus1 + 1, "pic_dpb_output_du_delay")
            guard parameters.sub_pic_cpb_params_in_pic_timing_sei_flag else { return }
            // No level allows more than 600 slice segments (Table A.8), and a unit has at least one.
            let last = try reader.ue("num_decoding_units_minus1", in: 0...599)
            let length = parameters.du_cpb_removal_delay_increment_length_minus1 + 1
            let isCommon = try reader.flag("du_common_cpb_removal_delay_flag")
            if isCommon { _ = try reader.u(length, "du_common_cpb_removal_delay_increment_minus1") }
            for i in 0...last {
                _ = try reader.ue("num_nalus_in_du_minus1", i)
                if !isCommon, i < last {
                    _ = try reader.u(length, "du_cpb_removal_delay_increment_minus1", i)
                }
            }
        }
    }
}

extension H265 {
    /// buffering_period( payloadSize ) (D.2.2).
    static func bufferingPeriod(
        _ reader: inout RBSPReader, _ parameterSets: ParameterSetsByID
    ) throws(SyntaxError) -> SEIMessage.Content {
        let id = try reader.ue("bp_seq_parameter_set_id", in: 0...15)
        guard let parameters = parameterSets.sequence[id]?.vui_parameters?.hrd_parameters else {
            return .bufferingPeriod(sequenceParameterSetID: id)
        }
        let common = parameters.common
        var hasAlternatives = common.subPicture != nil
        if !hasAlternatives, try reader.flag("irap_cpb_params_present_flag") {
            _ = try reader.u(common.au_cpb_removal_delay_length_minus1 + 1, "cpb_delay_offset")
            _ = try reader.u(common.dpb_output_delay_length_minus1 + 1, "dpb_delay_offset")
            hasAlternatives = true
        }
        _ = try reader.flag("concatenation_flag")
        _ = try reader.u(
            common.au_cpb_removal_delay_length_minus1 + 1, "au_cpb_removal_delay_delta_minus1")
        let highest = parameters.subLayers.last
        let length = common.initial_cpb_removal_delay_length_minus1 + 1
        for (prefix, schedules) in [("nal_", highest?.nal ?? []), ("vcl_", highest?.vcl ?? [])] {
            for index in schedules.indices {
                _ = try reader.u(length, prefix + "initial_cpb_removal_delay", index)
                _ = try reader.u(length, prefix + "initial_cpb_removal_offset", index)
                if hasAlternatives {
                    _ = try reader.u(length, prefix + "initial_alt_cpb_removal_delay", index)
                    _ = try reader.u(length, prefix + "initial_alt_cpb_removal_offset", index)
                }
            }
        }
        return .bufferingPeriod(sequenceParameterSetID: id)
    }
}
