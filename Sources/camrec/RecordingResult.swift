import Bitstream
import CamControlProtocol
import CamConversion
import Encoder
import CamRecorder
import CamPlatform
import CamStorage

/// A recording's result, for messages and for the JSON report.
///
/// The report's top level; property names are JSON keys. `encoder`, `output`, `frames`, `bytes` and `latency`
/// describe the first output.
struct RecordingResult: Encodable {
    let device: Device
    let format: Format
    let source: Source
    let encoder: Encoder
    let output: String
    let frames: Frames
    let bytes: Int
    /// When the first encoded picture was captured, in UTC; nil if the source has no clock.
    let startTime: String?
    let seconds: Double
    let latency: Latency?
    let error: String?
    /// Nil without `--on-segment`.
    let onSegment: ProgramResult?
    /// Nil without `--on-event`.
    let onEvent: ProgramResult?
    /// Nil if nothing is hidden.
    let privacy: Privacy?
    /// Nil for a recording that plays in real time.
    let timeLapse: Lapse?
    let encoders: [Encoder]
    let outputs: [Output]
    /// The live outputs' receivers: all that were connected at the end, and the latest that had left.
    let receivers: [ReceiverReport]
    /// Nil without `--on-motion`.
    let motion: MotionResult?
    /// Nil without `--audio`.
    let sound: SoundResult?

    struct Device: Encodable {
        let path: String
        let name: String
        let driver: String?
        let bus: String?
        /// The controls set by `--control`, with the camera's current values.
        let controls: [String: String]
    }

    /// The program that is started for finished files or events.
    struct ProgramResult: Encodable {
        let program: String
        /// Files or events for which it was started, for which it then failed, and for which it was not started.
        let started, failed, leftOut: Int

        init<Call>(_ queue: ProgramQueue<Call>) {
            let counts = queue.counts
            (program, started, failed) = (queue.path, counts.started, counts.failed)
            leftOut = counts.leftOut
        }
    }

    /// What is hidden of the camera's pictures.
    struct Privacy: Encodable {
        let rectangles: [String]
        /// The mask's file.
        let mask: String?
        let fill: String

        init(_ privacy: PrivacyMask) {
            rectangles = privacy.rectangles.map(\.description)
            (mask, fill) = (privacy.shape?.name, privacy.fill.rawValue)
        }
    }

    /// How a time lapse was recorded, and how it plays.
    struct Lapse: Encodable {
        let everySeconds: Double
        let playbackFramesPerSecond: Double
    }

    /// The source and its failures.
    struct Source: Encodable {
        /// Times it was restarted or reopened after a failure.
        let restarts: Int
        /// Times without pictures: failures, and standstills of the process or the machine.
        let outages: Int
        /// The total time from the last picture before each failure to the first after it.
        let secondsLost: Double
        /// The part of `secondsLost` from the last picture to the end.
        let secondsAwayAtEnd: Double
        let standstills: Int
        /// Seconds in which the process was stopped.
        let secondsStopped: Double
        /// Seconds in which the machine was suspended.
        let secondsSuspended: Double
        /// Pictures whose time of capture the driver got wrong.
        let correctedTimes: Int
        /// Times that somebody watched, and the seconds in which nobody did and the camera was off; nil without
        /// `--on-demand`.
        var turnedOn: Int?
        var secondsOff: Double?
    }

    struct Format: Encodable {
        let pixelFormat: String
        let width: Int
        let height: Int
        let framesPerSecond: Double
        let interlaced: Bool
        let colorRange: String
        let colorMatrix: String
    }

    /// The encoder in use at the end.
    struct Encoder: Encodable {
        let name: String
        let codec: Codec
        let implementation: String?
        let renderNode: String?
        let driver: String?
        let entryPoint: String?
        let profile: String?
        /// The coded pictures; nil if the camera encodes.
        let width: Int?
        let height: Int?
        let rateControlMode: String?
        /// The requested or chosen bits per second: the average, and the maximum in any window.
        let bitRate: Int?
        let maximumBitRate: Int?
        let rateWindowSeconds: Double
        /// The measured bits per second by the source's clock: the average, and the fullest window.
        let measuredBitRate: Double?
        let measuredPeakBitRate: Double
        let passedOver: [String]
        let notes: [String]
        /// The decoders of the camera's Motion JPEG; nil for other formats, and without a GPU.
        let jpeg: JPEG?
        /// Whether the GPU read pictures from the camera's memory; nil without a GPU.
        let zeroCopy: ZeroCopy?
        let restarts: Int
        /// The measured pictures per second, by the source's clock.
        let measuredFramesPerSecond: Double?
        /// Pictures per second by the stream's VUI.
        let statedFramesPerSecond: Double?
        let frames: EncoderFrames
        let error: String?
        /// The message about promised rates that were exceeded.
        let brokenRates: String?
        /// Whether rates were changed during the recording.
        let hasChangedRates: Bool
        /// Whether it worked on one processor, where it could have used several.
        let isSingleThreaded: Bool

        private enum CodingKeys: CodingKey {
            case name, codec, implementation, renderNode, driver, entryPoint, profile, width, height
            case rateControlMode, bitRate
            case maximumBitRate, rateWindowSeconds, measuredBitRate, measuredPeakBitRate, passedOver, notes
            case jpeg, zeroCopy
            case restarts, measuredFramesPerSecond, statedFramesPerSecond, frames, error
        }
    }

    /// How many pictures the camera and the GPU shared, in whose memory, how many were copied, and why.
    struct ZeroCopy: Encodable {
        let memory: String?
        let shared: Int
        let copied: Int
        /// Bytes of the camera's pictures that the processor read.
        let bytesRead: Int
        let reason: String?
    }

    /// How many pictures of Motion JPEG the GPU and the processor decoded, and why the GPU did not decode
    /// all.
    struct JPEG: Encodable {
        let gpu: Int
        let cpu: Int
        let reason: String?
    }

    /// Counts of the frames that reach the encoders.
    struct EncoderFrames: Encodable {
        let droppedByEncoder: Int
        let unused: Int
        let encoded: Int
    }

    /// An output's format.
    enum OutputFormat: String, Encodable {
        case annexB = "annexb"
        case mkv, mp4, ts, timestamps, live
    }

    struct Output: Encodable {
        let output: String
        let format: OutputFormat
        let codec: Codec
        /// The place of its encoder among `encoders`.
        let encoder: Int
        let written: Int
        let keyframes: Int
        let lost: Int
        /// Access units that had to wait for room in its queue.
        let waits: Int
        let bytes: Int
        let latency: Latency?
        /// The number of receivers a live output had in total.
        let receivers: Int?
        /// Nil for a single file.
        let segments: Segments?
        /// Receivers refused because the limit was reached.
        let refused: Int?
        let error: String?
        /// Whether it connects to its receiver.
        let isConnecting: Bool

        private enum CodingKeys: CodingKey {
            case output, format, codec, encoder, written, keyframes, lost, waits, bytes, latency, receivers,
                segments
            case refused, error
        }
    }

    /// The files of an output with several.
    struct Segments: Encodable {
        let count: Int
        let first: String?
        let last: String?
        /// Old files that `--keep` or `--min-free` removed.
        let removed: Int
    }

    /// captured + droppedByDriver is the number of frames the camera numbered; captured is corrupt + droppedByUs +
    /// paused + notWanted + droppedByEncoder + encoded + unused.
    struct Frames: Encodable {
        let captured: Int
        let droppedByDriver: Int
        let corrupt: Int
        let droppedByUs: Int
        /// Part of `droppedByUs` while the encoder hung or was reopened.
        let droppedInRestart: Int
        /// Part of `droppedByUs` because an output was too slow.
        let droppedForOutput: Int
        /// Part of `droppedByUs` after a standstill.
        let droppedAfterStandstill: Int
        let paused: Int
        /// Pictures between the frames of a time lapse.
        let notWanted: Int
        let droppedByEncoder: Int
        let unused: Int
        let encoded: Int
        let keyframes: Int
        let written: Int
    }

    /// The time from capture to write.
    struct Latency: Encodable {
        let medianMilliseconds: Double
        let percentile99Milliseconds: Double
        let maximumMilliseconds: Double
    }

    init(
        _ recording: Recording, _ outcome: RecordingOutcome, elapsed: Duration, _ programs: RecordingPrograms,
        lapse: TimeLapse?, hiding privacy: PrivacyMask?
    ) {
        self.privacy = privacy.map(Privacy.init)
        timeLapse = lapse.map {
            Lapse(
                everySeconds: $0.interval.inSeconds,
                playbackFramesPerSecond: $0.playbackRate.framesPerSecond)
        }
        let (identity, granted) = (outcome.source.identity, outcome.source.format)
        device = Device(
            path: identity.device, name: identity.name, driver: identity.driver, bus: identity.bus,
            controls: outcome.source.controlChanges.reduce(into: [:]) { controls, change in
                controls[change.control.name] = change.control.text(of: change.granted ?? change.wanted)
            })
        format = Format(
            pixelFormat: "\(granted.pixelFormat)", width: granted.size.width, height: granted.size.height,
            framesPerSecond: granted.frameRate.framesPerSecond, interlaced: granted.isInterlaced,
            colorRange: granted.color.range.rawValue, colorMatrix: "\(granted.color.matrix)")
        var source = Source(
            restarts: recording.counters[.sourceRestarts], outages: recording.counters[.outages],
            secondsLost: Double(recording.counters[.millisecondsLost]) / 1e3,
            secondsAwayAtEnd: Double(recording.counters[.millisecondsAwayAtEnd]) / 1e3,
            standstills: recording.counters[.standstills],
            secondsStopped: Double(recording.counters[.millisecondsStopped]) / 1e3,
            secondsSuspended: Double(recording.counters[.millisecondsSuspended]) / 1e3,
            correctedTimes: recording.counters[.correctedTimes])
        if recording.isOnDemand {
            source.turnedOn = recording.counters[.turnedOn]
            source.secondsOff = Double(recording.counters[.millisecondsOff]) / 1e3
        }
        self.source = source
        let (encoders, outputs) = (outcome.tracks.map(Encoder.init), outcome.outputs.map(Output.init))
        // A recording has at least one output, and each output has an encoder.
        let first = outputs[0]
        let encoder = encoders[first.encoder]
        (self.encoders, self.outputs, self.encoder) = (encoders, outputs, encoder)
        (output, bytes, latency) = (first.output, first.bytes, first.latency)
        frames = Frames(recording.counters, encoder.frames, first)
        (startTime, seconds) = (outcome.start?.iso8601, elapsed.inSeconds)
        receivers = outcome.outputs.flatMap { ReceiverReport.all(of: $0.receivers, output: $0.name) }
        error = outcome.errors.first?.description
        onSegment = programs.files.map(ProgramResult.init)
        onEvent = programs.events.map(ProgramResult.init)
        motion = recording.motion.map { MotionResult($0.content) }
        sound = outcome.sound.map(SoundResult.init)
    }
}

extension RecordingResult.Encoder {
    fileprivate init(_ outcome: RecordingOutcome.Track) {
        let (choice, details) = (outcome.choice, outcome.choice?.details)
        name = choice?.name ?? ""
        codec = outcome.codec
        implementation = details?.implementation
        renderNode = details?.renderNode
        driver = details?.driver
        entryPoint = details?.entryPoint?.rawValue
        profile = details?.profile.rawValue
        (width, height) = (details?.size.width, details?.size.height)
        rateControlMode = details?.rateControl.mode.rawValue
        bitRate = details?.rateControl.bitRate
        let rate = outcome.rate
        (maximumBitRate, rateWindowSeconds) = (rate.promise?.maximum, rate.window)
        (measuredBitRate, measuredPeakBitRate) = (rate.average, rate.worstWindow)
        (brokenRates, hasChangedRates) = (rate.breach, rate.hasChanged)
        isSingleThreaded = details?.isSingleThreaded == true
        passedOver = choice?.passedOver ?? []
        notes = choice?.notes.map(\.description) ?? []
        jpeg = choice?.jpeg.map {
            RecordingResult.JPEG(gpu: $0.gpuPictures, cpu: $0.cpuPictures, reason: $0.reason)
        }
        zeroCopy = choice?.sharing.map {
            RecordingResult.ZeroCopy(
                memory: $0.memory?.rawValue, shared: $0.sharedPictures, copied: $0.copiedPictures,
                bytesRead: $0.bytesRead, reason: $0.reason)
        }
        let counters = outcome.counters
        restarts = counters[.restarts]
        measuredFramesPerSecond = outcome.measuredRate
        statedFramesPerSecond = outcome.statedRate
        frames = RecordingResult.EncoderFrames(
            droppedByEncoder: counters[.droppedByEncoder], unused: counters[.unused],
            encoded: counters[.encoded])
        error = outcome.error?.description
    }
}

extension RecordingResult.Output {
    fileprivate init(_ outcome: RecordingOutcome.Output) {
        output = outcome.name
        format = RecordingResult.OutputFormat(outcome.choice.form)
        (codec, encoder) = (outcome.choice.codec, outcome.track)
        isConnecting = outcome.choice.isConnecting
        let delivery = outcome.delivery
        (bytes, written) = (delivery.bytes, delivery.written)
        (keyframes, lost) = (delivery.keyframes, delivery.lost)
        waits = outcome.waits
        latency = outcome.latency.map(RecordingResult.Latency.init)
        segments = outcome.segments.map(RecordingResult.Segments.init)
        let receivers = outcome.receivers?.content
        (self.receivers, refused) = (receivers?.count, receivers?.refused)
        error = outcome.error?.description
    }
}

extension RecordingResult.OutputFormat {
    init(_ form: OutputChoice.Form) {
        self =
            switch form {
            case .annexB: .annexB
            case .container(.matroska): .mkv
            case .container(.mp4): .mp4
            case .container(.transportStream): .ts
            case .timestamps: .timestamps
            case .live: .live
            }
    }
}

extension RecordingResult.Segments {
    fileprivate init(_ summary: SegmentSummary) {
        (count, removed) = (summary.count, summary.removed)
        (first, last) = (summary.first, summary.last)
    }
}

extension RecordingResult.Frames {
    fileprivate init(
        _ counters: Counters<CaptureCounter>, _ encoder: RecordingResult.EncoderFrames,
        _ output: RecordingResult.Output
    ) {
        captured = counters[.captured]
        droppedByDriver = counters[.droppedByDriver]
        corrupt = counters[.corrupt]
        droppedByUs = counters[.droppedByUs]
        droppedInRestart = counters[.droppedInRestart]
        droppedForOutput = counters[.droppedForOutput]
        droppedAfterStandstill = counters[.droppedAfterStandstill]
        paused = counters[.paused]
        notWanted = counters[.notWanted]
        droppedByEncoder = encoder.droppedByEncoder
        unused = encoder.unused
        encoded = encoder.encoded
        keyframes = output.keyframes
        written = output.written
    }
}

extension RecordingResult.Latency {
    fileprivate init(_ latency: RecordingOutcome.Latency) {
        medianMilliseconds = latency.median.inSeconds * 1e3
        percentile99Milliseconds = latency.percentile99.inSeconds * 1e3
        maximumMilliseconds = latency.maximum.inSeconds * 1e3
    }
}
