import CamSound
import CamPlatform

/// Checks every microphone: whether this user may record from it, and whether anything is heard.
///
/// A recording without sound needs none, so what is wrong here is a note.
struct MicrophoneCheck {
    let deviceAccess: DeviceAccess

    /// How long to listen.
    private static let time = Duration.milliseconds(300)
    /// Seconds.
    private static let patience = 5

    func findings() -> [Finding] { MicrophoneFinder().microphones.map(finding) }

    private func finding(_ entry: MicrophoneEntry) -> Finding {
        if let refusal = deviceAccess.refusal(of: entry.node, class: "char-alsa", module: "snd") {
            return Finding(.microphones, .note, entry.name, refusal.message, remedy: refusal.remedy)
        }
        // ALSA may wait for a device, or for a server, that does not respond.
        let listening: Result<Int, SoundError>? = WatchedThread().run(patience: Self.patience) {
            do throws(SoundError) { return .success(try Self.peak(of: Microphone(entry.name))) } catch {
                return .failure(error)
            }
        }
        do throws(SoundError) {
            guard let peak = try listening?.get() else { throw SoundError(.hung, entry.name) }
            guard peak > 0 else {
                return Finding(
                    .microphones, .note, entry.name, "\(entry.title): delivers nothing or only zeros",
                    remedy: "see 'alsamixer': it may be switched off")
            }
            return Finding(.microphones, .fine, entry.name, "\(entry.title), peak \(peak * 100 / 32768) %")
        } catch {
            return Finding(.microphones, .note, entry.name, error.reason, remedy: error.remedy)
        }
    }

    /// The largest sample, from 0 to 32768.
    private static func peak(of microphone: Microphone) throws(SoundError) -> Int {
        let end = Instant.now + time
        var largest = 0
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 8192 * microphone.format.channels)
        defer { room.deallocate() }
        while Instant.now < end {
            guard let reading = try microphone.read(into: room, until: end) else { continue }
            for sample in room[..<(reading.frames * microphone.format.channels)] {
                largest = max(largest, Int(sample.magnitude))
            }
        }
        return largest
    }
}
