import CV4L2

/// What a driver says when the signal that it captures becomes another: HDMI grabbers and TV cards, and some
/// sensors (V4L2_EVENT_SOURCE_CHANGE).
enum SourceChange {
    /// Asks to be told, by POLLPRI. Most cameras have no such event.
    static func subscribe(on device: V4L2Device) {
        var subscription = v4l2_event_subscription()
        subscription.type = UInt32(V4L2_EVENT_SOURCE_CHANGE)
        _ = device.control(CV4L2_SUBSCRIBE_EVENT, &subscription)
    }

    /// Takes the events that have come.
    /// - Returns: whether one of them says that the size or the rate changed.
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

    /// A driver that claims there is always another is not believed.
    private static let mostEvents = 64
}
