import CSDL2
import CamPlatform
import CamSound

/// Plays sound with its pictures, on a thread of its own.
///
/// `@unchecked Sendable`: state that other threads use is accessed with the lock held; the rest belongs to
/// the sound's thread.
final class SoundPlayer: @unchecked Sendable {
    private let feed: any SoundFeed
    /// Opens the loudspeaker; nil once the thread has ended.
    private var open: (() throws(PlayError) -> Speaker)?
    private let noteReady: @Sendable (Duration) -> Void
    private let warn: @Sendable (String) -> Void
    private let monitor = Monitor()
    private var (isStopped, hasEnded) = (false, false)
    private var isMuted = false
    /// The requested position, until the sound's thread takes it.
    private var jump: Duration?
    /// Whether the thread must drop the sound that it waits to play.
    private var dropsHeld = false
    /// The number of changes that may end a wait.
    private var changes = 0
    private var current: PlayReport.Sound?

    private var schedule = SoundSchedule()
    private var silence: [Int16] = []

    /// - Parameters:
    ///   - open: opens the loudspeaker, on the sound's thread, once there is sound.
    ///   - ready: called at least once with the time until the first sound can be heard; zero if there is no sound to
    ///     wait for.
    ///   - warn: takes a line for the viewer.
    init(
        _ feed: any SoundFeed, open: @escaping () throws(PlayError) -> Speaker,
        ready: @escaping @Sendable (Duration) -> Void, warn: @escaping @Sendable (String) -> Void
    ) {
        (self.feed, self.open, self.noteReady, self.warn) = (feed, open, ready, warn)
    }

    /// A generous estimate of the time from reading the first packet to the loudspeaker's queue.
    private static let preparation = Duration.milliseconds(50)

    /// Starts the thread, which plays until it is stopped.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        // The thread retains the player until it returns, which may be late: a sound server may hang.
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

    /// Drops the sound that waits to be played, because another stream begins. Safe in any thread.
    func dropHeld() { change { dropsHeld = true } }

    /// Wakes the thread after sound has arrived, or its clock has started, stopped or jumped. Safe in any
    /// thread.
    func noteChange() { change {} }

    /// The report so far; nil before the first sound. Safe in any thread.
    var report: PlayReport.Sound? { monitor.withLock { current } }
}

extension SoundPlayer {
    private func run() {
        if let open {
            do throws(PlayError) { try play(open) } catch { warn(error.description) }
        }
        noteReady(.zero)
        // This thread must not hold the last reference to SDL, which the main thread shuts down.
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
                noteReady(opened.delay + Self.preparation)
            case .packet(let packet)?:
                guard let speaker, let playing = decoder else { continue }
                if !play(packet, playing, on: speaker) { decoder = nil }
            case .later(let time)?:
                noteReady(.zero)
                wait(since: seen, until: time)
            case nil:
                noteReady(.zero)
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

    /// - Returns: nil, after a warning, if the sound cannot be decoded; another stream may be decodable.
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

    /// - Returns: false, after a warning, if the sound cannot be decoded.
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

    /// Delivers samples when they are due, unless the viewer seeks or stops first.
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

// MARK: Feed

/// The source of a player's sound, and the clock of that sound. Used by the sound's thread.
protocol SoundFeed: AnyObject {
    /// The next item; nil if there is none now.
    /// - Parameter isOver: called repeatedly; returns true to end the search.
    func next(isOver: () -> Bool) -> SoundFeedItem?

    /// Continues at a time, if that is possible.
    func seek(to time: Duration)

    /// When a time of the sound is due; nil if unknown, and in a pause.
    func moment(of time: Duration) -> Instant?
}

/// A piece of a player's sound.
enum SoundFeedItem {
    /// The description of the following packets, which do not continue the previous ones.
    case begins(SoundDescription)
    /// A packet, at its time since the first picture.
    case packet(SoundPacket)
    /// No sound until a time; look again then, or after a change.
    case later(Instant)
}

// MARK: Schedule

/// Decides when the loudspeaker gets sound, so that it is heard with its pictures: stretching corrects small
/// deviations, silence or dropped samples larger ones. The caller reads the clock.
struct SoundSchedule {
    /// The treatment of the next samples.
    enum Step: Equatable {
        /// Wait at most this long.
        case wait(Duration)
        /// Play this much silence first.
        case silence(Duration)
        /// Play the samples, stretched by this much within the next second.
        case play(stretch: Duration)
        /// Drop the samples, which are too late.
        case leaveOut
    }

    /// The length of the loudspeaker's queue: enough to cover a busy moment; more would be heard after a
    /// pause or a seek.
    static let queue = Duration.milliseconds(120)
    /// Earlier sound is preceded by silence, later sound is dropped. Viewers notice sound that is 45 ms early
    /// or 125 ms late (ITU-R BT.1359).
    private static let (mostEarly, mostLate) = (Duration.milliseconds(40), Duration.milliseconds(60))
    /// The same limits for the first samples: half a packet.
    private static let (mostEarlyAtFirst, mostLateAtFirst) = (
        Duration.milliseconds(1), Duration.milliseconds(11)
    )
    /// The loudspeaker takes samples in pieces, over which the deviation is averaged.
    private static let weight = 16

    /// How early sound would be heard, on average; negative if late.
    private(set) var deviation = Duration.zero
    private var isAveraging = false

    /// Decides the next step.
    /// - Parameters:
    ///   - lead: how much too early the samples would be heard, if they were handed over now; negative if too late.
    ///   - queued: how much waits in the loudspeaker's queue.
    mutating func next(lead: Duration, queued: Duration) -> Step {
        if queued >= Self.queue { return .wait(queued - Self.queue / 2) }
        let (mostEarly, mostLate) =
            isAveraging
            ? (Self.mostEarly, Self.mostLate) : (Self.mostEarlyAtFirst, Self.mostLateAtFirst)
        if lead < .zero - mostLate {
            restart()
            return .leaveOut
        }
        if lead > mostEarly {
            // The queue must not be full of silence if the viewer seeks.
            guard queued + lead <= Self.queue else { return .wait(queued + lead - Self.queue) }
            restart()
            return .silence(lead)
        }
        deviation = isAveraging ? deviation + (lead - deviation) / Self.weight : lead
        isAveraging = true
        return .play(stretch: deviation)
    }

    /// Forgets the deviation, because the next samples do not follow the last ones.
    mutating func restart() { (deviation, isAveraging) = (.zero, false) }
}

// MARK: Loudspeaker

/// SDL's loudspeaker: plays its queue on a thread of SDL. Used by one thread.
final class Speaker {
    private let sdl: SDL
    private let device: SDL_AudioDeviceID
    /// The format of the samples that it plays.
    let format = SoundFormat(rate: 48_000, channels: 2)
    /// The approximate time from the queue to the air: the device has room for two of SDL's pieces.
    let delay: Duration
    private var isPlaying = false

    /// Frames that SDL takes at once: 11 ms.
    private static let pieceLength: UInt16 = 512

    /// Opens the default loudspeaker.
    init(_ sdl: SDL) throws(PlayError) {
        guard sdl.call.InitSubSystem(csdl2_init_audio) == 0 else {
            throw .noSpeaker(reason: "SDL: \(sdl.lastError)")
        }
        var wanted = SDL_AudioSpec()
        wanted.freq = Int32(format.rate)
        wanted.format = csdl2_samples
        wanted.channels = UInt8(format.channels)
        wanted.samples = Self.pieceLength
        var opened = SDL_AudioSpec()
        let device = sdl.call.OpenAudioDevice(nil, 0, &wanted, &opened, 0)
        guard device > 0 else {
            let reason = sdl.lastError
            sdl.call.QuitSubSystem(csdl2_init_audio)
            throw .noSpeaker(reason: "SDL: \(reason)")
        }
        (self.sdl, self.device) = (sdl, device)
        delay = format.duration(of: 2 * Int(opened.samples))
    }

    deinit {
        sdl.call.CloseAudioDevice(device)
        sdl.call.QuitSubSystem(csdl2_init_audio)
    }

    /// The duration of the queued sound.
    var queued: Duration { format.duration(of: Int(sdl.call.GetQueuedAudioSize(device)) / frameSize) }

    /// How long interleaved samples last.
    func duration(of samples: UnsafeBufferPointer<Int16>) -> Duration {
        format.duration(of: samples.count / format.channels)
    }

    /// Adds samples to the queue.
    func play(_ samples: UnsafeBufferPointer<Int16>) {
        // If SDL has no memory for the samples, the schedule notices that they are missing.
        _ = sdl.call.QueueAudio(device, samples.baseAddress, UInt32(clamping: samples.count * 2))
    }

    /// Plays or stops; stopping keeps the queue.
    func setPlaying(_ plays: Bool) {
        guard plays != isPlaying else { return }
        sdl.call.PauseAudioDevice(device, plays ? 0 : 1)
        isPlaying = plays
    }

    /// Empties the queue.
    func clear() { sdl.call.ClearQueuedAudio(device) }

    private var frameSize: Int { 2 * format.channels }
}
