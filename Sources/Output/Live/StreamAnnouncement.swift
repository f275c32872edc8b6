import Bitstream
import CamNetworking
import CamSound
import CamPlatform

/// Hands the latest description of a stream from its writer to the thread that announces it.
final class StreamAnnouncement: @unchecked Sendable {
    // Safe to share: the description is accessed with the monitor's lock held, the parameter sets by one thread.
    private let monitor = Monitor()
    private let wakeUp: WakeUp
    private var description: SessionDescription?
    /// What it was made from. Belongs to the writer.
    private var parameterSets: [UInt8] = []
    private let sound: SoundDescription?

    /// - Parameter sound: what is sent besides the pictures; nil for nothing.
    init(sound: SoundDescription? = nil) throws(NetworkError) {
        wakeUp = try WakeUp()
        self.sound = sound
    }

    /// Notes a keyframe's parameter sets, which rarely change.
    func note(_ keyframe: AccessUnit) {
        let end = keyframe.units.prefix { $0.header.isParameterSet }.last?.bytes.upperBound ?? 0
        let isKnown = keyframe.withUnsafeBytes { $0[..<end].elementsEqual(parameterSets) }
        guard !isKnown, let latest = SessionDescription(keyframe: keyframe, sound: sound) else { return }
        parameterSets = keyframe.withUnsafeBytes { Array($0[..<end]) }
        monitor.withLock { description = latest }
        wakeUp.wake()
    }

    /// Waits for the first description.
    /// - Returns: the latest; nil if the interruption was raised.
    func wait(unless interruption: Interruption) -> SessionDescription? {
        // Never cleared: once there is a description, there is one.
        _ = interruption.wait(for: wakeUp.descriptor)
        return monitor.withLock { description }
    }
}
