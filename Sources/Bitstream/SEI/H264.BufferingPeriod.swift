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
