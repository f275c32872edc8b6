import Output
import Sound
import Threading
import Time

/// Plays a file's sound with its pictures, on a thread of its own, which reads the file for itself: neither waits for the
/// other.
///
/// `@unchecked Sendable`: what other threads use is accessed with the lock held; the rest belongs to the sound's thread.
final class SoundPlayer: @unchecked Sendable {
    private let reader: ContainerReader
    private let presentation: Presentation
    private let open: () throws(PlayError) -> Speaker
    private let warn: @Sendable (String) -> Void
    private let monitor = Monitor()
    private var (isStopped, hasEnded) = (false, false)
    private var isMuted = false
    /// Where to continue in the file, until the sound's thread does so.
    private var jump: Duration?
    /// How often something changed that may end a wait.
    private var changes = 0
    private var current = PlayReport.Sound()

    private var schedule = SoundSchedule()
    /// Sound that is due earlier is not played.
    private var beginning = Duration.zero
    private var silence: [Int16] = []

    /// - Parameters:
    ///   - reader: a reader of the file with sound, which only this player uses.
    ///   - presentation: knows when pictures are due.
    ///   - open: opens the loudspeaker, on the sound's thread.
    ///   - warn: takes a line for the viewer.
    init(
        _ reader: ContainerReader, with presentation: Presentation,
        open: @escaping () throws(PlayError) -> Speaker, warn: @escaping @Sendable (String) -> Void
    ) {
        (self.reader, self.presentation, self.open, self.warn) = (reader, presentation, open, warn)
    }

    /// Starts the thread, which plays until it is stopped.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        // It keeps the player alive until it returns, however late that is: a sound server may hang.
        guard let thread = WorkerThread(body: { [self] in run() }) else { return false }
        thread.detach()
        return true
    }

    /// Ends playing.
    /// - Returns: false if the thread hangs.
    func stop(patience: Duration) -> Bool {
        change { isStopped = true }
        let end = Instant.now + patience
        return monitor.withLock {
            while !hasEnded, .now < end { monitor.wait(until: end) }
            return hasEnded
        }
    }

    private func run() {
        defer {
            monitor.withLock {
                hasEnded = true
                monitor.signal()
            }
        }
        do throws(PlayError) {
            let speaker = try open()
            var decoder: SoundDecoder?
            while !monitor.withLock({ isStopped }) {
                let seen = monitor.withLock { changes }
                if let time = takeJump() {
                    try go(to: time, speaker, decoder)
                } else if let packet = nextPacket() {
                    try play(packet, &decoder, on: speaker)
                } else {
                    wait(since: seen, for: nil)
                }
            }
        } catch { warn(error.description) }
    }

    /// Continues at a time. Safe in any thread.
    func seek(to time: Duration) { change { jump = time } }

    /// Plays silence in place of the sound, or sound again. Safe in any thread.
    func toggleMute() { change { isMuted.toggle() } }

    /// Notes that the presentation's clock has started, stopped or jumped. Safe in any thread.
    func noteClock() { change {} }

    /// What was played so far. Safe in any thread.
    var report: PlayReport.Sound { monitor.withLock { current } }
}

extension SoundPlayer {
    private func change(_ body: () -> Void) {
        monitor.withLock {
            body()
            changes += 1
            monitor.signal()
        }
    }

    private func takeJump() -> Duration? { monitor.withLock { jump.take() } }

    /// Waits until something changes, but no longer than a while; nil for no limit.
    private func wait(since seen: Int, for duration: Duration?) {
        let end = duration.map { Instant.now + $0 } ?? .distantFuture
        monitor.withLock { while changes == seen, .now < end { monitor.wait(until: end) } }
    }

    private func go(to time: Duration, _ speaker: Speaker, _ decoder: SoundDecoder?) throws(PlayError) {
        speaker.clear()
        schedule.restart()
        decoder?.reset()
        beginning = time
        do throws(InputError) { try reader.seek(to: time) } catch { throw .input(error) }
    }

    /// - Returns: nil at the end.
    private func nextPacket() -> SoundPacket? {
        // An error is the end here; the pictures' reader reports it.
        while let packet = try? reader.next() {
            if let sound = packet.sound, sound.end > .start + beginning { return sound }
            if monitor.withLock({ isStopped || jump != nil }) { break }
        }
        return nil
    }

    private func play(
        _ packet: SoundPacket, _ decoder: inout SoundDecoder?, on speaker: Speaker
    ) throws(PlayError) {
        guard let description = reader.sound else { return }
        do throws(SoundError) {
            let opened =
                if let decoder { decoder } else {
                    try SoundDecoder(description, output: speaker.format)
                }
            if decoder == nil {
                decoder = opened
                note {
                    $0.codec = description.codec.rawValue
                    ($0.rate, $0.channels) = (description.format.rate, description.format.channels)
                }
            }
            var time = packet.timestamp - .start
            try opened.decode(packet) { samples in
                deliver(samples, due: time, to: speaker, stretching: opened)
                time += speaker.format.duration(of: samples.count / speaker.format.channels)
            }
        } catch { throw .sound(error) }
    }

    /// Hands samples over when it is time for them, unless the viewer seeks or stops first.
    private func deliver(
        _ samples: UnsafeBufferPointer<Int16>, due time: Duration, to speaker: Speaker,
        stretching decoder: SoundDecoder
    ) {
        let duration = speaker.format.duration(of: samples.count / speaker.format.channels)
        while true {
            let (seen, isOver, mutes) = monitor.withLock { (changes, isStopped || jump != nil, isMuted) }
            if isOver { return }
            guard let moment = presentation.moment(of: time) else {
                speaker.setPlaying(false)
                wait(since: seen, for: nil)
                continue
            }
            speaker.setPlaying(true)
            let queued = speaker.queued
            switch schedule.next(lead: moment - (.now + queued + speaker.delay), queued: queued) {
            case .wait(let duration): wait(since: seen, for: duration)
            case .silence(let duration):
                play(silence: duration, on: speaker)
                note { $0.secondsOfSilence += duration.inSeconds }
            case .play(let stretch):
                decoder.stretch(by: stretch)
                if mutes { play(silence: duration, on: speaker) } else { speaker.play(samples) }
                return note {
                    $0.secondsPlayed += duration.inSeconds
                    $0.earlyBy = schedule.deviation.inSeconds
                }
            case .leaveOut: return note { $0.secondsLeftOut += duration.inSeconds }
            }
        }
    }

    private func play(silence duration: Duration, on speaker: Speaker) {
        let frames = Int((duration.inSeconds * Double(speaker.format.rate)).rounded())
        if silence.count < frames * speaker.format.channels {
            silence = Array(repeating: 0, count: frames * speaker.format.channels)
        }
        silence.withUnsafeBufferPointer {
            speaker.play(UnsafeBufferPointer(rebasing: $0[..<(frames * speaker.format.channels)]))
        }
    }

    private func note(_ body: (inout PlayReport.Sound) -> Void) { monitor.withLock { body(&current) } }
}
