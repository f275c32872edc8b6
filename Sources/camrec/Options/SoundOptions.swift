import ArgumentParser
import Encoder
import CamSound
import CamCommandLine

/// Options for the sound that belongs to the pictures.
struct SoundOptions: ParsableArguments {
    @Flag(
        help:
            "Record sound as well: from the camera's own microphone, else from ALSA's default. Raw streams stay pictures alone."
    )
    var audio = false

    @Option(
        help: ArgumentHelp(
            "Record sound from this microphone: ALSA's name, as 'camrec devices' prints it, default, test for a tone, or none. Without it, --audio chooses.",
            valueName: "NAME"), completion: .list(["default", "test", "none"]))
    var audioDevice: String?

    @Option(
        help: ArgumentHelp("How sound is coded: aac, opus or flac. Default: aac.", valueName: "CODEC"),
        completion: .list(SoundCodec.allCases.map(\.rawValue)))
    var audioCodec: SoundCodec?

    @Option(
        help: ArgumentHelp(
            "Bits a second of sound, 16k to 512k. Default: for each channel 64k with aac, 48k with opus.",
            valueName: "RATE"), transform: BitsPerSecond.read)
    var audioBitrate: BitsPerSecond?

    /// The name for no microphone.
    static let none = "none"

    /// Whether sound is recorded.
    var isWanted: Bool { audioDevice.map { $0 != Self.none } ?? audio }

    /// The codec of the sound.
    var codec: SoundCodec { audioCodec ?? .aac }
}

extension SoundCodec: ExplainedArgument {
    public static let requirement = "expected aac, opus or flac"
}
