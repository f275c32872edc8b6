extension H265 {
    /// nal_unit() (7.3.1.1) with what is understood of its content, for a reader at its first byte.
    static func readNALUnit(
        _ reader: inout RBSPReader, _ parameterSets: ParameterSetsByID
    ) throws(SyntaxError) {
        _ = try reader.flag("forbidden_zero_bit")
        _ = try reader.u(6, "nal_unit_type")
        _ = try reader.u(6, "nuh_layer_id")
        _ = try reader.u(3, "nuh_temporal_id_plus1")
    }
}
