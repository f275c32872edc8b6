import Sound
import Synchronization
import Threading
import Time

/// The sound of a recording, and the thread that records it.
///
/// Whatever happens to the microphone, sound goes on: with silence until it is back. It ends after the pictures of
/// all outputs, so that the last of them has its sound.
final class SoundTrack: @unchecked Sendable {
    // Safe to share: everything that changes belongs to the sound thread until it is joined.
    private let plan: SoundPlan
    private let outputs: [RecordingOutput]
    private let control: RecordingControl
    /// Wakes the sound thread when an output's pictures end.
    private let monitor = Monitor()
    /// Accessed with the lock held.
    private var hasEnded = false
    /// Whether its thread hangs and was not joined: nothing of it must be read.
    private(set) var isAbandoned = false
    private var thread: WorkerThread?
    private var source: (any SoundSource)?
    private var timeline: SoundTimeline?
    private var watch = MicrophoneWatch()
    private var messages = MessageLimit()
    private var begun = Instant.now
    private var nextAttempt = Instant.distantPast
    private var lastName: String?
    /// Of microphones that are gone.
    private var pastOverruns = 0
    private var outages = 0
    private var lost = 0
    private var error: SoundError?
    /// When it was noticed that an output's pictures had ended; nil while they go on.
    private var ends: [Instant?]
    /// Whether an output has all its sound.
    private var isDone: [Bool]
    /// When the latest packet ends: an encoder holds back some hundredths of a second.
    private var delivered = Instant.distantPast
    private let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: mostSamples)

    /// A fifth of a second in two channels.
    private static let mostSamples = 19_200
    /// How long one wait for samples may last.
    private static let wait = Duration.milliseconds(100)
    /// The time after which what has not come becomes silence.
    private static let patience = Duration.milliseconds(400)
    /// What a thread may take to end after all outputs have.
    private static let lastPatience = Duration.seconds(2)
    /// The pause between attempts to open a microphone.
    private static let pause = Duration.seconds(1)

    /// - Parameter outputs: those that take sound.
    init(_ plan: SoundPlan, outputs: [RecordingOutput], control: RecordingControl) {
        (self.plan, self.control) = (plan, control)
        self.outputs = outputs.filter { [monitor] output in
            output.expectSound(plan.encoder.description) { monitor.withLock { monitor.signal() } }
        }
        ends = self.outputs.map { _ in nil }
        isDone = self.outputs.map { _ in false }
        source = plan.takeMicrophone()
    }

    deinit { samples.deallocate() }

    /// Starts the thread.
    /// - Returns: false if the system allows no more.
    func start() -> Bool {
        thread = WorkerThread { [self] in run() }
        return thread != nil
    }

    /// Waits for the end, which follows that of the pictures. A thread that hangs in a driver is abandoned.
    func join() {
        guard let thread = thread.take() else { return }
        let end = Instant.now + Self.lastPatience
        let isOver = monitor.withLock {
            while !hasEnded, .now < end { monitor.wait(until: end) }
            return hasEnded
        }
        if isOver { return thread.join() }
        isAbandoned = true
        thread.detach()
    }

    /// What became of it; nil if no output takes it. Read it only after `join`.
    var outcome: SoundOutcome? {
        guard !outputs.isEmpty else { return nil }
        if isAbandoned {
            return SoundOutcome(
                microphone: nil, description: plan.encoder.description, statistics: SoundStatistics(),
                overruns: 0,
                outages: 1, lost: 0, error: SoundError(.hung, "microphone"))
        }
        return SoundOutcome(
            microphone: lastName, description: plan.encoder.description,
            statistics: timeline?.statistics ?? SoundStatistics(),
            overruns: pastOverruns + (source?.overruns ?? 0), outages: outages, lost: lost, error: error)
    }

    private func run() {
        defer {
            monitor.withLock {
                hasEnded = true
                monitor.signal()
            }
        }
        do throws(SoundError) {
            lastName = source?.name
            begun = .now
            while !endOutputs() { try step() }
        } catch {
            // The encoder has failed: there is no more sound, and pictures do not wait for it.
            self.error = error
            plan.report(.lost(error))
        }
        for output in outputs { output.endSound() }
        _ = source.take().map { pastOverruns += $0.overruns }
    }

    /// The recording's sound, which begins with the first microphone, or with silence.
    private func timeline(from start: Instant) throws(SoundError) -> SoundTimeline {
        if let timeline { return timeline }
        let timeline = SoundTimeline(plan.encoder, start: start) { [self] packet in
            delivered = packet.end
            guard !control.isPaused else { return }
            for (index, output) in outputs.enumerated()
            where !isDone[index] && !output.hasEnded && !output.accept(packet) {
                lost += 1
            }
        }
        if let source { try timeline.connect(source.format) }
        self.timeline = timeline
        return timeline
    }

    /// Ends outputs whose pictures have ended, once they have their sound.
    /// - Returns: whether all have ended.
    private func endOutputs() -> Bool {
        for (index, output) in outputs.enumerated() where !isDone[index] && output.havePicturesEnded {
            let end = ends[index] ?? .now
            ends[index] = end
            guard delivered >= end || Instant.now - end > Self.patience else { continue }
            isDone[index] = true
            output.endSound()
        }
        return isDone.allSatisfy { $0 }
    }

    private var haveAllPicturesEnded: Bool { outputs.allSatisfy(\.havePicturesEnded) }

    private func step() throws(SoundError) {
        if source == nil { try reopen() }
        guard let source else {
            let timeline = try timeline(from: begun)
            monitor.withLock { if !haveAllPicturesEnded { monitor.wait(until: .now + Self.wait) } }
            return try timeline.fillSilence(until: .now)
        }
        let reading: SoundReading?
        do throws(SoundError) {
            reading = try source.read(into: samples, until: .now + Self.wait)
        } catch { return try lose(source, because: error) }
        if let reading, reading.frames > 0 {
            let count = reading.frames * source.format.channels
            let taken = UnsafeBufferPointer(rebasing: samples[..<count])
            let timeline = try timeline(from: reading.end - reading.duration(at: source.format.rate))
            try timeline.take(reading, taken)
            for event in watch.note(taken, from: source, timeline.statistics) { plan.report(event) }
            // If it is late, it is because this machine is.
            return
        }
        guard .now - (timeline?.end ?? begun) > Self.patience else { return }
        let timeline = try timeline(from: begun)
        try timeline.fillSilence(until: .now - Self.patience / 2)
        if let event = watch.noteNothing(from: source) { plan.report(event) }
    }

    private func lose(_ source: any SoundSource, because error: SoundError) throws(SoundError) {
        outages += 1
        pastOverruns += source.overruns
        self.source = nil
        nextAttempt = .now + Self.pause
        try timeline?.disconnect()
        if messages.admit(at: .now) != nil { plan.report(.lost(error)) }
    }

    private func reopen() throws(SoundError) {
        guard .now >= nextAttempt else { return }
        nextAttempt = .now + Self.pause
        // It may be away for long, and was reported when it went.
        guard let source = try? plan.open() else { return }
        try timeline?.connect(source.format)
        self.source = source
        lastName = source.name
        watch = MicrophoneWatch()
        plan.report(.resumed(name: source.name))
    }
}
