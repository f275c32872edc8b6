import CamSound
import CamPlatform

/// Plays sound with its pictures, on a thread of its own.
///
/// `@unchecked Sendable`: what other threads use is accessed with the lock held; the rest belongs to the sound's thread.
final class SoundPlayer: @unchecked Sendable {
    private let feed: any SoundFeed
    /// Nil once the thread has ended.
    private var open: (() throws(PlayError) -> Speaker)?
    private let noteReady: @Sendable (Instant) -> Void
    private let warn: @Sendable (String) -> Void
    private let monitor = Monitor()
    private var (isStopped, hasEnded) = (false, false)
    private var isMuted = false
    /// Where to continue in the file, until the sound's thread does so.
    private var jump: Duration?
    /// Whether what the thread waits to play has become meaningless.
    private var dropsHeld = false
    /// How often something changed that may end a wait.
    private var changes = 0
    private var current: PlayReport.Sound?

    private var schedule = SoundSchedule()
    private var silence: [Int16] = []

    /// - Parameters:
    ///   - open: opens the loudspeaker, on the sound's thread, once there is sound.
    ///   - ready: told, at least once, from when on the first sound can be heard; now if there is none to wait for.
    ///   - warn: takes a line for the viewer.
    init(
        _ feed: any SoundFeed, open: @escaping () throws(PlayError) -> Speaker,
        ready: @escaping @Sendable (Instant) -> Void, warn: @escaping @Sendable (String) -> Void
    ) {
        (self.feed, self.open, self.noteReady, self.warn) = (feed, open, ready, warn)
    }

    /// How long the first packet takes from the file to the loudspeaker's queue, with much to spare.
    private static let preparation = Duration.milliseconds(20)

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

    /// Continues at a time. Safe in any thread.
    func seek(to time: Duration) { change { jump = time } }

    /// Plays silence in place of the sound, or sound again. Safe in any thread.
    func toggleMute() { change { isMuted.toggle() } }

    /// Leaves out what waits to be played, because another stream begins. Safe in any thread.
    func dropHeld() { change { dropsHeld = true } }

    /// Notes that more sound has come, or that its clock has started, stopped or jumped. Safe in any thread.
    func noteChange() { change {} }

    /// What was played so far; nil if there was nothing. Safe in any thread.
    var report: PlayReport.Sound? { monitor.withLock { current } }
}

extension SoundPlayer {
    private func run() {
        if let open {
            do throws(PlayError) { try play(open) } catch { warn(error.description) }
        }
        noteReady(.now)
        // SDL must not be ended by this thread, if it is the last one that refers to it.
        monitor.withLock {
            open = nil
            hasEnded = true
            monitor.signal()
        }
    }

    /// - Throws: if there is no loudspeaker.
    private func play(_ open: () throws(PlayError) -> Speaker) throws(PlayError) {
        var speaker: Speaker?
        var decoder: SoundDecoder?
        while true {
            let (seen, isOver, time) = monitor.withLock {
                dropsHeld = false
                return (changes, isStopped, jump.take())
            }
            if isOver { return }
            if let time {
                speaker?.clear()
                feed.seek(to: time)
                continue
            }
            switch feed.next(isOver: { hasOrders }) {
            case .begins(let description)?:
                let opened = if let speaker { speaker } else { try open() }
                (speaker, decoder) = (opened, makeDecoder(description, for: opened))
                schedule.restart()
                noteReady(.now + opened.delay + Self.preparation)
            case .packet(let packet)?:
                guard let speaker, let playing = decoder else { continue }
                if !play(packet, playing, on: speaker) { decoder = nil }
            case .later(let time)?:
                noteReady(.now)
                wait(since: seen, until: time)
            case nil:
                noteReady(.now)
                wait(since: seen, until: .distantFuture)
            }
        }
    }

    /// Whether the thread has something else to do.
    private var hasOrders: Bool { monitor.withLock { isStopped || jump != nil || dropsHeld } }

    private func change(_ body: () -> Void) {
        monitor.withLock {
            body()
            changes += 1
            monitor.signal()
        }
    }

    /// Waits until something changes, or for a time.
    private func wait(since seen: Int, until end: Instant) {
        monitor.withLock { while changes == seen, .now < end { monitor.wait(until: end) } }
    }

    /// - Returns: nil if the sound cannot be decoded, which is said; another stream's may.
    private func makeDecoder(_ description: SoundDescription, for speaker: Speaker) -> SoundDecoder? {
        var report = self.report ?? PlayReport.Sound()
        report.codec = description.codec.rawValue
        (report.rate, report.channels) = (description.format.rate, description.format.channels)
        monitor.withLock { current = report }
        do throws(SoundError) { return try SoundDecoder(description, output: speaker.format) } catch {
            warn(error.description)
            return nil
        }
    }

    /// - Returns: false if the sound cannot be decoded, which is said.
    private func play(_ packet: SoundPacket, _ decoder: SoundDecoder, on speaker: Speaker) -> Bool {
        var time = packet.timestamp - .start
        do throws(SoundError) {
            try decoder.decode(packet) { samples in
                deliver(samples, due: time, to: speaker, stretching: decoder)
                time += speaker.duration(of: samples)
            }
            return true
        } catch {
            warn(error.description)
            return false
        }
    }

    /// Hands samples over when it is time for them, unless the viewer seeks or stops first.
    private func deliver(
        _ samples: UnsafeBufferPointer<Int16>, due time: Duration, to speaker: Speaker,
        stretching decoder: SoundDecoder
    ) {
        let duration = speaker.duration(of: samples)
        while true {
            let (seen, isOver, mutes) = monitor.withLock {
                (changes, isStopped || jump != nil || dropsHeld, isMuted)
            }
            if isOver { return }
            guard let moment = feed.moment(of: time) else {
                speaker.setPlaying(false)
                wait(since: seen, until: .distantFuture)
                continue
            }
            speaker.setPlaying(true)
            let queued = speaker.queued
            switch schedule.next(lead: moment - (.now + queued + speaker.delay), queued: queued) {
            case .wait(let duration): wait(since: seen, until: .now + duration)
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
        let count = frames * speaker.format.channels
        if silence.count < count { silence = Array(repeating: 0, count: count) }
        silence.withUnsafeBufferPointer { speaker.play(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    private func note(_ body: (inout PlayReport.Sound) -> Void) {
        monitor.withLock {
            guard var report = current else { return }
            body(&report)
            current = report
        }
    }
}
