import CV4L2

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
