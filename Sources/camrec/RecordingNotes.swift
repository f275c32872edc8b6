import CamCommandLine
import CamPictures
import CamPlatform
import CamRecorder
import Capture
import Encoder
import CamStorage

/// Reports what a recording chose and why, once everything is open.
struct RecordingNotes {
    let command: RecordCommand
    let console: Console

    func report(_ source: RecordingOutcome.Source, _ providers: [BackendEncoderProvider]) {
        report(source)
        for node in providers.first?.hungNodes ?? [] {
            console.warn("\(node): its driver is not responding; left out")
        }
        for provider in providers { report(provider, isAlone: providers.count == 1) }
        for warning in command.warnings { console.warn(warning) }
        if let note = command.source.waitingNote { console.inform("note: \(note)") }
        if let advice = providers.first.map({ advice(on: $0, source.format) }) {
            for note in advice.notes { console.inform(note) }
            for warning in advice.warnings { console.warn(warning) }
        }
    }

    /// `waiting for /dev/video0 for 30 s (Ctrl-C ends): in use by cheese (pid 4711)`
    /// - Parameter patience: nil for an endless wait.
    static func waiting(_ error: CaptureError, for patience: Duration?) -> String {
        let limit = patience.map { " for \(Quantity.seconds($0.inSeconds))" } ?? ""
        let device = error.kind == .noCamera ? "a camera" : error.device
        // The name may be mistyped.
        let advice = error.kind == .notFound ? "; 'camrec devices' lists the cameras" : ""
        return "waiting for \(device)\(limit) (Ctrl-C ends): \(error.reason)\(advice)"
    }

    private func report(_ source: RecordingOutcome.Source) {
        let format = source.format
        console.inform(
            "source: \(source.identity.name) (\(source.identity.device)), \(format.pixelFormat) \(format.size) "
                + "at \(format.frameRate) frames/s\(format.isInterlaced ? ", interlaced" : "")")
        let hidden = command.privacy.given
        if !hidden.isEmpty { console.inform("hidden: \(hidden.joined(separator: " and "))") }
        for change in source.controlChanges { report(change) }
        for error in source.missingControls { console.warn("\(error) (the recording goes on without it)") }
        if !source.isLive, command.picture.overlay?.hasTime == true {
            console.warn(
                "--overlay: these pictures have no time of capture, and the text counts from the machine's start; "
                    + "use {frame}")
        }
        let framing = command.picture.framing
        if let scale = framing.scale, (try? framing.picture(of: format))?.isDistorted == true {
            console.warn(
                "--scale \(scale): players will show the pictures distorted, because no stream can have pixels of such a "
                    + "shape; use a size whose proportions are closer to \(format.size)")
        }
        if let every = command.lapse.every, let plan = command.lapse.plan {
            console.inform("time lapse: a frame each \(every), played at \(plan.playbackRate) frames/s")
        }
    }

    private func report(_ change: ControlChange) {
        let (control, wanted) = (change.control, change.control.text(of: change.wanted))
        guard let granted = change.granted, granted != change.wanted else {
            return console.inform("control: \(control.name) is \(wanted)")
        }
        console.warn(
            "\(control.name): requested \(wanted), but the camera set \(control.text(of: granted))")
    }

    private func report(_ provider: BackendEncoderProvider, isAlone: Bool) {
        guard let choice = provider.choice else { return }
        let reasons = choice.passedOver.joined(separator: "; ")
        let stream = provider.stream
        let pictures = isAlone ? "" : ", of \(stream.size) at \(stream.frameRate) frames/s"
        console.inform(
            "encoder: \(choice.name)\(pictures)" + (reasons.isEmpty ? "" : " (because: \(reasons))"))
        for note in choice.notes {
            if note.contradictsRequest {
                console.warn("\(note)")
            } else {
                console.inform("note: \(note)")
            }
        }
    }

    private func advice(on provider: BackendEncoderProvider, _ format: PictureFormat) -> SegmentAdvice {
        let lapse = command.lapse.plan
        let frames = provider.keyframeInterval.frames(
            framesPerSecond: (lapse?.playbackRate ?? format.frameRate).framesPerSecond)
        let frameInterval = lapse?.interval ?? format.frameRate.frameDuration
        return SegmentAdvice(
            segments: command.segments, onMotion: command.motion.onMotion,
            rate: SegmentAdvice.Rate(provider.choice?.details?.rateControl),
            keyframeDistance: Double(frames) * frameInterval.inSeconds)
    }
}

// MARK: Lengths of files and rings

/// Compares the requested lengths with what a stream's rate and keyframes allow: memory is bounded, and files begin
/// and end at keyframes.
struct SegmentAdvice {
    /// The known bit rate of a stream, in bits per second.
    enum Rate: Equatable {
        case average(Double)
        /// Constant quality with a maximum rate.
        case atMost(Double)
        /// Constant quality at any rate, or encoded by the camera.
        case unknown

        /// - Parameter control: the encoder's rate control; nil if the camera encodes.
        init(_ control: RateControl?) {
            if let average = control?.bitRate {
                self = .average(Double(average))
            } else if let maximum = control?.maximumBitRate {
                self = .atMost(Double(maximum))
            } else {
                self = .unknown
            }
        }
    }

    let segments: SegmentOptions
    /// Whether motion is a trigger.
    var onMotion = false
    let rate: Rate
    /// Seconds between keyframes.
    let keyframeDistance: Double

    /// The memory that a ring takes.
    var notes: [String] {
        guard let ring = segments.ring else { return [] }
        switch rate {
        case .average(let bits) where ring.seconds <= Self.heldSeconds(at: bits):
            return ["ring: \(ring), some \(Self.memory(ring.seconds * bits / 8)) in memory"]
        case .atMost(let bits) where ring.seconds <= Self.heldSeconds(at: bits):
            return ["ring: \(ring), at most \(Self.memory(ring.seconds * bits / 8)) in memory"]
        default: return []
        }
    }

    /// Requests that will not be met exactly.
    var warnings: [String] { [ofRing, ofPost, ofSize].compactMap { $0 } }

    private var ofRing: String? {
        guard let ring = segments.ring else { return nil }
        switch rate {
        case .average(let bits) where ring.seconds > Self.heldSeconds(at: bits):
            return "--ring \(ring) does not fit: its \(Self.wholeMemory) of memory hold about "
                + "\(Self.text(Self.heldSeconds(at: bits))) at \(Megabits(bits)) Mbit/s; lower --bitrate for more"
        case .atMost(let bits) where ring.seconds > Self.heldSeconds(at: bits):
            return "--ring \(ring) may not fit: at the \(Megabits(bits)) Mbit/s of --max-bitrate its "
                + "\(Self.wholeMemory) of memory hold \(Self.text(Self.heldSeconds(at: bits))); lower --max-bitrate to be sure"
        case .unknown:
            return
                "--ring \(ring) may not fit: it has \(Self.wholeMemory) of memory, and how long these last is not "
                + "known, because nothing bounds the rate; give less, or a --bitrate"
        case .average, .atMost: return nil
        }
    }

    private var ofPost: String? {
        guard segments.ring != nil else { return nil }
        let post = segments.postDuration.inSeconds
        guard post < keyframeDistance else { return nil }
        let calm = onMotion ? MotionDetector.calm.inSeconds : 0
        let end =
            calm > post ? "an event ends after \(Self.text(calm)) without motion, its file" : "a file ends"
        return
            "--post \(TimeSpan(seconds: post)) becomes up to \(Self.text(max(post, calm) + keyframeDistance)): \(end) "
            + "before a keyframe, and these are \(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
    }

    private var ofSize: String? {
        guard case .bytes(let bytes) = segments.segment?.length else { return nil }
        guard case .average(let rate) = rate else {
            guard keyframeDistance > Self.longDistance else { return nil }
            return
                "--segment: a file ends with the first keyframe after its size, and these are "
                + "\(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
        }
        let least = rate * keyframeDistance / 8
        guard Double(bytes) < least else { return nil }
        return
            "--segment: files become some \(Self.megabytes(least)): each begins with a keyframe, and these are "
            + "\(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
    }

    /// More seconds between keyframes than most users expect.
    private static let longDistance = 10.0

    /// Returns the seconds that fit into a ring's memory.
    private static func heldSeconds(at bitRate: Double) -> Double {
        Double(EventRing.Plan.usualByteLimit) * 8 / max(1, bitRate)
    }

    private static let wholeMemory = memory(Double(EventRing.Plan.usualByteLimit))

    /// Formats bytes in the unit that --help uses.
    private static func memory(_ bytes: Double) -> String { "\(Int((bytes / 1_048_576).rounded(.up))) MiB" }

    private static func megabytes(_ bytes: Double) -> String {
        bytes < 1e6 ? "\(Int((bytes / 1e3).rounded(.up))) kB" : "\(Int((bytes / 1e6).rounded())) MB"
    }

    private static func text(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: Quantity.seconds((seconds * 10).rounded() / 10)
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        default: "\(Int((seconds / 3600).rounded())) h"
        }
    }
}
