import CamPlatform
import CamSound

/// The sound of a recording, and its thread.
///
/// While the microphone is away, silence is recorded. The sound ends after the pictures of all outputs, so
/// every picture has its sound. The thread never calls a driver.
final class SoundTrack: @unchecked Sendable {
    // Safe to share: all mutable state belongs to the sound thread until it is joined.
    private let plan: SoundPlan
    private let outputs: [Output]
    private let control: RecordingControl
    private var thread: WorkerThread?
    private var batch = MicrophoneReader.Batch()
    private var watch: MicrophoneWatch
    private var standstills = StandstillWatch(SystemTime())
    private var begun = Instant.now
    /// The microphone's format; nil while there is no microphone.
    private var format: SoundFormat?
    /// The end of the latest packet: an encoder holds back some hundredths of a second.
    private var delivered = Instant.distantPast
    private var isHeard = false
    private var outages = 0
    private var lost = 0
    private var statistics = SoundStatistics()
    private var error: SoundError?
    private var overruns = 0
    /// Whether the microphone's thread hangs: libraries may wait for it at exit.
    private(set) var hasHungThread = false

    /// An output that gets the sound.
    private final class Output {
        let output: RecordingOutput
        /// The time at which its pictures were found to have ended; nil while they continue.
        var end: Instant?
        /// Whether the output has all its sound.
        var isDone = false

        init(_ output: RecordingOutput) { self.output = output }
    }

    /// The longest wait for samples.
    private static let wait = Duration.milliseconds(100)
    /// The longest wait for samples when the pictures have ended.
    private static let lastWait = Duration.milliseconds(10)
    /// The time after which missing sound becomes silence.
    private static let patience = Duration.milliseconds(400)
    /// The longest time that the microphone's thread may take to end.
    private static let lastPatience = Duration.seconds(1)

    /// Returns nil if no output takes sound.
    init?(_ plan: SoundPlan, outputs: [RecordingOutput], control: RecordingControl) {
        (self.plan, self.control) = (plan, control)
        self.outputs = outputs.filter { $0.expectSound(plan.encoder.description) }.map(Output.init)
        watch = MicrophoneWatch(name: plan.name)
        if self.outputs.isEmpty { return nil }
    }

    /// Starts the thread.
    /// - Returns: false if the system allows no more threads.
    func start() -> Bool {
        thread = WorkerThread { [self] in run() }
        return thread != nil
    }

    /// Waits for the end of the sound, after that of the pictures.
    func join() { thread.take()?.join() }

    /// The outcome; read it only after `join`.
    var outcome: SoundOutcome {
        SoundOutcome(
            microphone: plan.name, isHeard: isHeard, description: plan.encoder.description,
            statistics: statistics, overruns: overruns, outages: outages, lost: lost, error: error)
    }

    private func run() {
        begun = .now
        do throws(SoundError) {
            var timeline: SoundTimeline?
            while !endOutputs() { try step(&timeline) }
        } catch {
            // The sound cannot be coded, so pictures must not wait for it.
            self.error = error
            plan.report(.ended(error))
        }
        for output in outputs { output.output.endSound() }
        overruns = plan.microphone.overruns
        hasHungThread = !plan.microphone.stop(patience: Self.lastPatience)
    }

    /// Ends outputs whose pictures have ended, once they have their sound.
    /// - Returns: whether all have ended.
    private func endOutputs() -> Bool {
        for output in outputs where !output.isDone && output.output.havePicturesEnded {
            let end = output.end ?? .now
            output.end = end
            guard delivered >= end || Instant.now - end > Self.patience * 2 else { continue }
            output.isDone = true
            output.output.endSound()
        }
        return outputs.allSatisfy(\.isDone)
    }

    private func deliver(_ packet: SoundPacket) {
        delivered = packet.end
        guard control.records(packet.timestamp) else { return }
        for output in outputs where !output.isDone && !output.output.hasEnded {
            if !output.output.accept(packet) { lost += 1 }
        }
    }

    private func step(_ timeline: inout SoundTimeline?) throws(SoundError) {
        let areEnding = outputs.contains { $0.end != nil }
        let deadline = Instant.now + (areEnding ? Self.lastWait : Self.wait)
        let hasNews = plan.microphone.take(into: &batch, until: deadline)
        // A shorter standstill than one that is reported looks like a silent microphone, too.
        let isLate = Instant.now - deadline > Self.patience / 2
        if standstills.look(SystemTime(), late: .zero) != nil || isLate { watch.stoodStill(until: .now) }
        var start = 0
        for item in batch.items {
            switch item {
            case .opened(_, let format): try connect(format, &timeline)
            case .lost(let error): try lose(error, timeline)
            case .samples(let reading, let count):
                let samples = UnsafeBufferPointer(rebasing: batch.samples[start..<start + count])
                start += count
                try hear(reading, samples, &timeline)
            }
        }
        if let timeline { statistics = timeline.statistics }
        // Samples that came late were delayed by this machine, not by the microphone.
        if hasNews, start > 0 { return }
        try fill(&timeline)
    }

    private func connect(_ format: SoundFormat, _ timeline: inout SoundTimeline?) throws(SoundError) {
        self.format = format
        try timeline?.connect(format)
    }

    private func lose(_ error: SoundError, _ timeline: SoundTimeline?) throws(SoundError) {
        if format != nil { outages += 1 }
        format = nil
        try timeline?.disconnect()
        if let event = watch.lost(error, at: .now) { plan.report(event) }
    }

    private func hear(
        _ reading: SoundReading, _ samples: UnsafeBufferPointer<Int16>, _ timeline: inout SoundTimeline?
    ) throws(SoundError) {
        guard let format else { return }
        let duration = reading.duration(at: format.rate)
        let made = try made(&timeline, from: reading.end - duration)
        try made.take(reading, samples)
        isHeard = true
        if let event = watch.heard(samples, lasting: duration) { plan.report(event) }
        if let event = watch.judge(falseRate: made.falseRate) { plan.report(event) }
    }

    /// Fills missing sound with silence; without a microphone, does not wait for it.
    private func fill(_ timeline: inout SoundTimeline?) throws(SoundError) {
        let now = Instant.now
        let patience = format == nil ? .zero : Self.patience
        guard now - (timeline?.end ?? begun) > patience else { return }
        if format != nil, let event = watch.heardNothing(at: now) { plan.report(event) }
        let made = try made(&timeline, from: begun)
        try made.fillSilence(until: now - patience / 2)
        statistics = made.statistics
    }

    /// Returns the recording's timeline, which is created when the microphone is first heard or silence is
    /// due.
    private func made(
        _ timeline: inout SoundTimeline?, from start: Instant
    ) throws(SoundError) -> SoundTimeline {
        if let timeline { return timeline }
        let made = SoundTimeline(plan.encoder, start: start) { [self] packet in deliver(packet) }
        if let format { try made.connect(format) }
        timeline = made
        return made
    }
}

// MARK: Plan and outcome

/// The sound of a recording that is about to start.
package struct SoundPlan {
    /// The sound encoder. Only the recording's sound thread uses it from now on.
    package let encoder: SoundEncoder
    /// The microphone's reader. Only the recording takes from it from now on.
    package let microphone: MicrophoneReader
    /// ALSA's name of the microphone.
    package let name: String
    /// Receives events; called on the sound thread.
    package let report: @Sendable (SoundEvent) -> Void

    /// Creates a plan with an open encoder.
    package init(
        _ encoder: SoundEncoder, microphone: MicrophoneReader, name: String,
        report: @escaping @Sendable (SoundEvent) -> Void = { _ in }
    ) {
        (self.encoder, self.microphone, self.name, self.report) = (encoder, microphone, name, report)
    }
}

/// The outcome of a recording's sound.
package struct SoundOutcome: Sendable {
    /// ALSA's name of the microphone.
    package let microphone: String
    /// Whether the microphone was ever heard.
    package let isHeard: Bool
    /// The recorded sound's properties.
    package let description: SoundDescription
    /// The corrections made to it.
    package let statistics: SoundStatistics
    /// How often samples were lost because they were not read in time.
    package let overruns: Int
    /// How often the microphone was lost.
    package let outages: Int
    /// Packets that an output had no room for, over all outputs.
    package let lost: Int
    /// Why the sound ended early; nil if it did not.
    package let error: SoundError?
}
