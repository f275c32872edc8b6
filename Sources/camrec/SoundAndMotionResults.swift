import CamCommandLine
import CamPlatform
import CamRecorder

/// The sound of a recording. Property names are JSON keys.
struct SoundResult: Encodable {
    /// ALSA's name of the microphone, and whether it was ever heard.
    let microphone: String
    let heard: Bool
    let codec: String
    let samplesPerSecond: Int
    let channels: Int
    let bitRate: Int?
    /// How often the microphone delivered samples, and how often samples were lost because they were not read
    /// in time.
    let periods: Int
    let overruns: Int
    /// How often the microphone was missing.
    let outages: Int
    /// Silence in place of missing sound.
    let secondsOfSilence: Double
    /// How much faster the microphone's clock is than this machine's, in parts per million; nil if it was not
    /// heard for long enough.
    let driftPPM: Double?
    /// The measured samples per second, if they contradict the microphone's stated rate.
    let falseRate: Int?
    /// Packets that an output had no room for.
    let lost: Int
    let error: String?

    init(_ outcome: SoundOutcome) {
        let (description, statistics) = (outcome.description, outcome.statistics)
        (microphone, heard) = (outcome.microphone, outcome.isHeard)
        (codec, bitRate) = (description.codec.rawValue, description.bitRate)
        (samplesPerSecond, channels) = (description.format.rate, description.format.channels)
        (periods, overruns, outages) = (statistics.readings, outcome.overruns, outcome.outages)
        secondsOfSilence = statistics.silence.inSeconds
        (driftPPM, falseRate) = (statistics.drift, statistics.falseRate)
        (lost, error) = (outcome.lost, outcome.error?.description)
    }

    /// A line for people.
    var summary: String {
        guard heard else { return "sound: silence, because nothing was heard of \(microphone)" }
        let silence =
            secondsOfSilence >= 0.05 ? "; \(Quantity.tenths(secondsOfSilence)) s of silence filled in" : ""
        let drift =
            driftPPM.map { "; its clock is off by \(Quantity.tenths($0)) millionths, which is made up for" }
            ?? ""
        return "sound: \(microphone)\(silence)\(drift)"
    }

    /// Losses that the user should know about.
    var warnings: [String] {
        var warnings: [String] = []
        if let error { warnings.append("the sound ended early: \(error)") }
        if secondsOfSilence >= 0.05 {
            warnings.append("\(Quantity.tenths(secondsOfSilence)) s of sound were missing and are silent")
        }
        if lost > 0 {
            warnings.append(
                "\(Quantity.count(lost, "packet")) of sound \(lost == 1 ? "was" : "were") lost because an output was too slow"
            )
        }
        return warnings
    }
}

/// The motion that a recording saw. Property names are JSON keys.
struct MotionResult: Encodable {
    /// The number of times that something moved.
    let count: Int
    /// The latest 1000 times.
    let events: [Event]

    struct Event: Encodable {
        /// Seconds from the recording's first picture to the first and to the last picture with motion.
        let startSeconds: Double
        let endSeconds: Double
        /// Seconds to the picture that changed most.
        let peakSeconds: Double
        /// The share of that picture that changed, 0 to 1.
        let peakShare: Double
        /// The box around the change, in the camera's pixels.
        let x: Int
        let y: Int
        let width: Int
        let height: Int

        init(_ event: MotionEvent, since start: Instant) {
            func seconds(_ time: Instant) -> Double { (time - start).inSeconds }
            (startSeconds, endSeconds) = (seconds(event.start), seconds(event.end))
            (peakSeconds, peakShare) = (seconds(event.peakTime), event.peak)
            (x, y) = (event.place.x, event.place.y)
            (width, height) = (event.place.width, event.place.height)
        }
    }

    init(_ content: MotionLog.Content) {
        count = content.count
        let start = content.start ?? .start
        events = content.events.map { Event($0, since: start) }
    }

    /// A line for people.
    var summary: String {
        guard let last = events.last else { return "motion: none" }
        return
            "motion: \(count == 1 ? "once" : "\(count) times"), last from \(Quantity.tenths(last.startSeconds)) s to "
            + "\(Quantity.tenths(last.endSeconds)) s at \(last.width)x\(last.height)+\(last.x)+\(last.y)"
    }
}
