extension H265 {
    /// Clock ticks (7.4.3.1, E.3.1). In the stream the elements' names begin with `vps_` or `vui_`.
    public struct TimingInformation: Equatable, Sendable {
        /// Units of the clock of frequency `time_scale` in a tick, which is one picture.
        public let num_units_in_tick: Int
        /// Units of that clock in a second.
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
