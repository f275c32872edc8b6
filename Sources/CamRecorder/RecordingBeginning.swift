import CamPlatform

/// Tells the capture thread when the recording begins, which may be long after the source has started.
final class RecordingBeginning: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held.
    private let monitor = Monitor()
    private var hasBegun = false
    private var length: Duration?
    private var conversions: ConversionAhead?

    /// - Parameters:
    ///   - duration: of the recording, from its first picture; nil for no limit.
    ///   - ahead: takes pictures for conversion.
    func begin(duration: Duration?, ahead: ConversionAhead?) {
        monitor.withLock { (hasBegun, length, conversions) = (true, duration, ahead) }
    }

    /// Whether pictures are recorded.
    var isRecording: Bool { monitor.withLock { hasBegun } }

    /// The recording's duration from its first picture; later pictures are not needed.
    var duration: Duration? { monitor.withLock { length } }

    /// How many pictures are being converted, or wait for the encoder after that.
    var convertedCount: Int { monitor.withLock { conversions }?.heldCount ?? 0 }
}
