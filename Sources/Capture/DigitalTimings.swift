import CV4L2

/// The size and rate of the signal at an HDMI or SDI input, which a driver measures, but takes over only when it
/// is told (V4L2 specification, "Digital Video (DV) Timings").
enum DigitalTimings {
    /// Has the driver take what the signal has now. A camera has no such timings.
    static func adopt(on device: V4L2Device) {
        var timings = v4l2_dv_timings()
        guard device.control(CV4L2_QUERY_DV_TIMINGS, &timings) >= 0 else { return }
        _ = device.control(CV4L2_S_DV_TIMINGS, &timings)
    }
}
