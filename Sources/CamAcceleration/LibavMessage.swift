import CFFmpeg

/// What libav reports about a failure.
public enum LibavMessage {
    /// Returns libav's last message on this thread, or else the error code's name.
    public static func reason(_ code: Int32) -> String {
        let message = String(cString: cffmpeg_last_error())
        if !message.isEmpty { return message }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let bytes = buffer.baseAddress, av_strerror(code, bytes, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: bytes)
        }
    }
}
