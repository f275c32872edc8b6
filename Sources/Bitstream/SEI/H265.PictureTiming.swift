extension H265 {
    /// When a picture is decoded and shown, and how (D.2.3, D.3.3).
    public struct PictureTiming: Equatable, Sendable {
        /// How the picture is shown (Table D.2): 0 as a frame, 1 and 2 as a field, 3 to 6 as fields in turn,
        /// 7 and 8 as a frame that is doubled or tripled, 9 to 12 as a field paired with another; `nil` if
        /// the VUI rules it out.
        public let pic_struct: Int?
        /// How the source was scanned: 0 interlaced, 1 progressive, 2 unknown; `nil` if the VUI rules it
        /// out.
        public let source_scan_type: Int?
        /// Whether the picture repeats the previous one; `nil` if the VUI rules it out.
        public let duplicate_flag: Bool?
        /// Clock ticks between the decoding of the previous picture and of this one, less 1; `nil` without
        /// HRD parameters.
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
