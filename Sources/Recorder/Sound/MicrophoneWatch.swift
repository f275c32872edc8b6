import Sound
import Time

/// Notices a microphone that delivers nothing, only zeros, or at another rate than it says. Each is reported once.
struct MicrophoneWatch {
    private var isStalled = false
    private var hasSound = false
    private var hasReportedMute = false
    private var hasReportedRate = false
    /// Since it was opened.
    private var frames = 0

    /// A microphone that is switched on has noise within this time.
    private static let quietTime = 10

    /// Notes what was read.
    /// - Returns: what to report.
    mutating func note(
        _ samples: UnsafeBufferPointer<Int16>, from source: any SoundSource, _ statistics: SoundStatistics
    ) -> [SoundEvent] {
        var events: [SoundEvent] = []
        if isStalled {
            isStalled = false
            events.append(.resumed(name: source.name))
        }
        frames += samples.count / source.format.channels
        if !hasSound { hasSound = samples.contains { $0 != 0 } }
        if !hasSound, !hasReportedMute, frames >= Self.quietTime * source.format.rate {
            hasReportedMute = true
            events.append(.mute(name: source.name))
        }
        if let rate = statistics.falseRate, !hasReportedRate {
            hasReportedRate = true
            events.append(.falseRate(name: source.name, claimed: source.format.rate, measured: rate))
        }
        return events
    }

    /// Notes that nothing has come for a while.
    /// - Returns: what to report; nil if that was reported.
    mutating func noteNothing(from source: any SoundSource) -> SoundEvent? {
        guard !isStalled else { return nil }
        isStalled = true
        return .stalled(name: source.name)
    }
}
