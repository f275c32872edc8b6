import CV4L2
import CamPictures

/// The size and rate of the signal at an HDMI or SDI input. A driver measures them, but applies them only on
/// request (V4L2 specification, "Digital Video (DV) Timings").
enum DigitalTimings {
    /// Makes the driver apply the signal's current timings. A camera has no such timings.
    /// - Returns: the rate of the signal's frames; nil if there are no timings.
    static func adopt(on device: V4L2Device) -> FrameRate? {
        var timings = v4l2_dv_timings()
        if device.control(CV4L2_QUERY_DV_TIMINGS, &timings) >= 0 {
            _ = device.control(CV4L2_S_DV_TIMINGS, &timings)
        } else if device.control(CV4L2_G_DV_TIMINGS, &timings) < 0 {
            return nil
        }
        guard timings.type == UInt32(V4L2_DV_BT_656_1120) else { return nil }
        return frameRate(of: timings.bt)
    }

    /// Frames per second, even for a signal with fields: the pixel clock divided by all pixels of a frame,
    /// blanking included.
    static func frameRate(of timings: v4l2_bt_timings) -> FrameRate? {
        let columns = [timings.width, timings.hfrontporch, timings.hsync, timings.hbackporch]
        var rows = [timings.height, timings.vfrontporch, timings.vsync, timings.vbackporch]
        if timings.interlaced != 0 {
            rows += [timings.il_vfrontporch, timings.il_vsync, timings.il_vbackporch]
        }
        func sum(_ parts: [UInt32]) -> Double { parts.reduce(0) { $0 + Double($1) } }
        let pixels = sum(columns) * sum(rows)
        guard pixels > 0, timings.pixelclock > 0 else { return nil }
        var rate = Double(timings.pixelclock) / pixels
        // The clock is then the nominal one (V4L2_DV_FL_REDUCED_FPS).
        let reduced = UInt32(V4L2_DV_FL_CAN_DETECT_REDUCED_FPS) | UInt32(V4L2_DV_FL_REDUCED_FPS)
        if timings.flags & reduced == reduced { rate *= 1000 / 1001 }
        return FrameRate(measured: rate, tolerance: 0.0004)
    }
}
