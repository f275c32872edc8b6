extension H264 {
    /// A sequence parameter set extension (7.3.2.1.2, 7.4.2.1.2): auxiliary coded pictures, such as an alpha
    /// plane.
    public struct SequenceParameterSetExtension: Equatable, Sendable {
        /// The sequence parameter set that is extended, 0 to 31.
        public let seq_parameter_set_id: Int
        /// What auxiliary pictures are for: 0 nothing, 1 alpha blending with a primary picture that is not
        /// premultiplied, 2 with one that is, 3 unspecified.
        public let aux_format_idc: Int
        /// The elements for blending; `nil` with `aux_format_idc` 0.
        public let alpha: Alpha?
        /// Whether `additional_extension_data_flag`s follow, which decoders ignore.
        public let additional_extension_flag: Bool

        /// How auxiliary samples are interpreted.
        public struct Alpha: Equatable, Sendable {
            /// Bits of an auxiliary sample, less 8.
            public let bit_depth_aux_minus8: Int
            /// Whether samples are to be inverted.
            public let alpha_incr_flag: Bool
            /// The sample value for opaque.
            public let alpha_opaque_value: Int
            /// The sample value for transparent.
            public let alpha_transparent_value: Int
        }

        /// Reads a sequence parameter set extension NAL unit (type 13), given without start code.
        public init(_ nalUnit: RawSpan) throws(SyntaxError) {
            self = try nalUnit.withUnsafeBytes { (bytes) throws(SyntaxError) in
                var (_, reader) = try RBSPReader.h264(bytes) { $0 == .sequenceParameterSetExtension }
                return try SequenceParameterSetExtension(&reader)
            }
        }

        /// seq_parameter_set_extension_rbsp() (7.3.2.1.2).
        init(_ reader: inout RBSPReader) throws(SyntaxError) {
            seq_parameter_set_id = try reader.ue("seq_parameter_set_id", in: 0...31)
            aux_format_idc = try reader.ue("aux_format_idc", in: 0...3)
            alpha = aux_format_idc == 0 ? nil : try Alpha(&reader)
            additional_extension_flag = try reader.flag("additional_extension_flag")
        }
    }
}

extension H264.SequenceParameterSetExtension.Alpha {
    fileprivate init(_ reader: inout RBSPReader) throws(SyntaxError) {
        bit_depth_aux_minus8 = try reader.ue("bit_depth_aux_minus8", in: 0...4)
        alpha_incr_flag = try reader.flag("alpha_incr_flag")
        alpha_opaque_value = try reader.u(bit_depth_aux_minus8 + 9, "alpha_opaque_value")
        alpha_transparent_value = try reader.u(bit_depth_aux_minus8 + 9, "alpha_transparent_value")
    }
}
