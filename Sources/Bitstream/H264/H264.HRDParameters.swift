extension H264 {
    /// Parameters of the hypothetical reference decoder (E.1.2, E.2.2).
    public struct HRDParameters: Equatable, Sendable {
        /// One way of delivering the stream (`SchedSelIdx`).
        public struct Schedule: Equatable, Sendable {
            /// The bit rate, less 1, in units of 2 to the power of 6 + `bit_rate_scale` bits a second.
            public let bit_rate_value_minus1: Int
            /// The buffer's size, less 1, in units of 2 to the power of 4 + `cpb_size_scale` bits.
            public let cpb_size_value_minus1: Int
            /// Whether the bit rate is constant.
            public let cbr_flag: Bool
        }

        /// Scale of the bit rates.
        public let bit_rate_scale: Int
        /// Scale of the buffer sizes.
        public let cpb_size_scale: Int
        /// The `cpb_cnt_minus1` + 1 schedules, 1 to 32.
        public let schedules: [Schedule]
        /// Bits of `initial_cpb_removal_delay` in buffering period SEI messages, less 1.
        public let initial_cpb_removal_delay_length_minus1: Int
        /// Bits of `cpb_removal_delay` in picture timing SEI messages, less 1.
        public let cpb_removal_delay_length_minus1: Int
        /// Bits of `dpb_output_delay` in picture timing SEI messages, less 1.
        public let dpb_output_delay_length_minus1: Int
        /// Bits of `time_offset` in picture timing SEI messages.
        public let time_offset_length: Int

        /// The bit rate of a schedule in bits a second (E-37).
        public func bitRate(of schedule: Schedule) -> Int {
            (schedule.bit_rate_value_minus1 + 1) << (6 + bit_rate_scale)
        }

        /// The size of the coded picture buffer for a schedule in bits (E-38).
        public func codedPictureBufferSize(of schedule: Schedule) -> Int {
            (schedule.cpb_size_value_minus1 + 1) << (4 + cpb_size_scale)
        }

        init(_ reader: inout RBSPReader) throws(SyntaxError) {
            let count = try reader.ue("cpb_cnt_minus1", in: 0...31) + 1
            bit_rate_scale = try reader.u(4, "bit_rate_scale")
            cpb_size_scale = try reader.u(4, "cpb_size_scale")
            var schedules: [Schedule] = []
            for i in 0..<count {
                schedules.append(
                    Schedule(
                        bit_rate_value_minus1: try reader.ue("bit_rate_value_minus1", i),
                        cpb_size_value_minus1: try reader.ue("cpb_size_value_minus1", i),
                        cbr_flag: try reader.flag("cbr_flag", i)))
            }
            self.schedules = schedules
            initial_cpb_removal_delay_length_minus1 = try reader.u(
                5, "initial_cpb_removal_delay_length_minus1")
            cpb_removal_delay_length_minus1 = try reader.u(5, "cpb_removal_delay_length_minus1")
            dpb_output_delay_length_minus1 = try reader.u(5, "dpb_output_delay_length_minus1")
            time_offset_length = try reader.u(5, "time_offset_length")
        }
    }
}
