import CV4L2
import CamPictures

/// A connector of a grabber, such as its second HDMI or its S-Video input.
public struct VideoInput: Sendable, Hashable {
    /// The driver's number for it.
    public let index: Int
    /// The driver's name for it.
    public let name: String
}

/// An analog television standard, such as PAL-BG.
public struct VideoStandard: Sendable, Hashable {
    /// The standards that it includes, as bits (`v4l2_std_id`).
    let bits: UInt64
    /// The driver's name for it.
    public let name: String
}

/// Selects a grabber's input and television standard.
struct VideoInputs {
    let device: V4L2Device

    /// A bound, in case a list never ends.
    private static let most: UInt32 = 64

    /// The inputs in the driver's order.
    var inputs: [VideoInput] {
        var inputs: [VideoInput] = []
        for index in 0..<Self.most {
            var entry = v4l2_input()
            entry.index = index
            guard device.control(CV4L2_ENUMINPUT, &entry) >= 0 else { break }
            inputs.append(VideoInput(index: Int(index), name: Self.text(entry.name)))
        }
        return inputs
    }

    /// The number of the current input; nil if there are none.
    var currentInput: Int? {
        var index: Int32 = 0
        return device.control(CV4L2_G_INPUT, &index) >= 0 ? Int(index) : nil
    }

    /// The standards of the current input; empty for cameras and digital signals.
    var standards: [VideoStandard] {
        var standards: [VideoStandard] = []
        for index in 0..<Self.most {
            var entry = v4l2_standard()
            entry.index = index
            guard device.control(CV4L2_ENUMSTD, &entry) >= 0 else { break }
            standards.append(VideoStandard(bits: entry.id, name: Self.text(entry.name)))
        }
        return standards
    }

    /// The current standard; nil for cameras and digital signals. A driver may have set a subset of a listed
    /// standard.
    var currentStandard: VideoStandard? {
        var bits: UInt64 = 0
        guard device.control(CV4L2_G_STD, &bits) >= 0, bits != 0 else { return nil }
        return standards.first { $0.bits == bits } ?? standards.first { $0.bits & bits == bits }
    }

    /// Sets the input and then the standard, if they are requested.
    func select(_ request: CaptureRequest) throws(CaptureError) {
        if let input = request.input { try selectInput(input) }
        if let standard = request.standard { try selectStandard(standard) }
    }

    private func selectInput(_ wanted: String) throws(CaptureError) {
        let inputs = inputs
        let found =
            inputs.first { "\($0.index)" == wanted }
            ?? inputs.first { $0.name.lowercased() == wanted.lowercased() }
        guard let found else {
            let names = inputs.map { "\($0.index) (\($0.name))" }.joined(separator: ", ")
            throw device.error(
                .unsupported(
                    inputs.isEmpty
                        ? "it has no inputs to choose from; leave out --input"
                        : "it has no input '\(wanted)', only \(names)"))
        }
        var index = Int32(found.index)
        let result = device.control(CV4L2_S_INPUT, &index)
        guard result >= 0 else { throw device.failure("VIDIOC_S_INPUT", result) }
    }

    private func selectStandard(_ wanted: String) throws(CaptureError) {
        let standards = standards
        guard let found = standards.first(where: { $0.name.lowercased() == wanted.lowercased() }) else {
            let names = standards.map(\.name).joined(separator: ", ")
            throw device.error(
                .unsupported(
                    standards.isEmpty
                        ? "its input has no television standards; leave out --standard"
                        : "it has no standard '\(wanted)', only \(names)"))
        }
        var bits = found.bits
        let result = device.control(CV4L2_S_STD, &bits)
        guard result >= 0 else { throw device.failure("VIDIOC_S_STD", result) }
    }

    private static func text<Tuple>(_ field: Tuple) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

// MARK: The signal at an input

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

/// A driver's event for a change of the captured signal: from HDMI grabbers, TV cards and some sensors
/// (V4L2_EVENT_SOURCE_CHANGE).
enum SourceChange {
    /// Subscribes to the event, which POLLPRI then signals. Most cameras do not have it.
    static func subscribe(on device: V4L2Device) {
        var subscription = v4l2_event_subscription()
        subscription.type = UInt32(V4L2_EVENT_SOURCE_CHANGE)
        _ = device.control(CV4L2_SUBSCRIBE_EVENT, &subscription)
    }

    /// Dequeues the pending events.
    /// - Returns: whether one of them reports a new size or rate.
    static func hasCome(to device: V4L2Device) -> Bool {
        var hasChanged = false
        for _ in 0..<mostEvents {
            var event = v4l2_event()
            guard device.control(CV4L2_DQEVENT, &event) >= 0 else { break }
            if event.type == UInt32(V4L2_EVENT_SOURCE_CHANGE) {
                hasChanged =
                    hasChanged || event.u.src_change.changes & UInt32(V4L2_EVENT_SRC_CH_RESOLUTION) != 0
            }
            if event.pending == 0 { break }
        }
        return hasChanged
    }

    /// A bound, in case a driver always claims that there is one more.
    private static let mostEvents = 64
}
