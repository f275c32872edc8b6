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
