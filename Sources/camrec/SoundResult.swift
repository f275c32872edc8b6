import CamRecorder

/// What became of a recording's sound. Property names are JSON keys.
struct SoundResult: Encodable {
    /// ALSA's name of the microphone, and whether it was ever heard.
    let microphone: String
    let heard: Bool
    let codec: String
    let samplesPerSecond: Int
    let channels: Int
    let bitRate: Int?
    /// How often the microphone delivered samples, and how often it lost some because they were not read in time.
    let periods: Int
    let overruns: Int
    /// How often it was gone.
    let outages: Int
    /// Silence in place of what was missing.
    let secondsOfSilence: Double
    /// How much faster its clock is than this machine's, times a million; nil if it was not heard for long enough.
    let driftPPM: Double?
    /// The samples a second that came, if they are not those that it says.
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
        let silence = secondsOfSilence >= 0.05 ? "; \(decimal(secondsOfSilence)) s of silence filled in" : ""
        let drift =
            driftPPM.map { "; its clock is off by \(decimal($0)) millionths, which is made up for" } ?? ""
        return "sound: \(microphone)\(silence)\(drift)"
    }

    /// Losses that the user should know about.
    var warnings: [String] {
        var warnings: [String] = []
        if let error { warnings.append("the sound ended early: \(error)") }
        if secondsOfSilence >= 0.05 {
            warnings.append("\(decimal(secondsOfSilence)) s of sound were missing and are silent")
        }
        if lost > 0 { warnings.append("\(lost) packets of sound were lost because an output was too slow") }
        return warnings
    }
}
