import Glibc

/// Why sound cannot be recorded or played.
public struct SoundError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is the matter.
    public enum Cause: Sendable, Hashable {
        case noLibrary(reason: String)
        case notFound
        case busy
        case noPermission
        /// The microphone was unplugged.
        case gone
        /// The driver or the sound server does not respond.
        case hung
        /// Refused by ALSA; the text is ALSA's reason.
        case refused(reason: String)
        case noEncoder(name: String)
        case encoderFailed(reason: String)
        case decoderFailed(reason: String)
    }

    public let cause: Cause
    /// The ALSA name of the microphone, or the name of the codec.
    public let name: String

    /// Creates an error.
    public init(_ cause: Cause, _ name: String) { (self.cause, self.name) = (cause, name) }

    /// One line: what, why and what to do.
    public var description: String { "\(name): \(reason); \(remedy)" }

    /// What is the matter.
    public var reason: String {
        switch cause {
        case .noLibrary(let reason): "sound needs ALSA's library, which cannot be loaded: \(reason)"
        case .notFound: "no such microphone"
        case .busy: "another program uses this microphone"
        case .noPermission: "no permission"
        case .gone: "the microphone is gone"
        case .hung: "it does not respond"
        case .refused(let reason): "it cannot record: \(reason)"
        case .noEncoder(let encoder): "libavcodec has no encoder '\(encoder)'"
        case .encoderFailed(let reason): "the encoder failed: \(reason)"
        case .decoderFailed(let reason): "the decoder failed: \(reason)"
        }
    }

    /// What to do.
    public var remedy: String {
        switch cause {
        case .noLibrary: "install libasound2"
        case .notFound: "'camrec devices' lists those there are"
        case .busy: "end it, or use --audio-device default, which is shared"
        case .noPermission: "join the group 'audio', then log in again"
        case .gone: "plug it in again"
        case .hung: "unplug it, or use another --audio-device"
        case .refused: "try --audio-device default"
        case .noEncoder, .encoderFailed: "use another --audio-codec"
        case .decoderFailed: "other players may play it"
        }
    }

    /// - Parameter code: ALSA's negative error code.
    init(alsa code: Int32, _ name: String, reason: String) {
        switch -code {
        case ENOENT, ENXIO: self.init(.notFound, name)
        case ENODEV: self.init(.gone, name)
        case EBUSY: self.init(.busy, name)
        case EACCES, EPERM: self.init(.noPermission, name)
        default: self.init(.refused(reason: reason), name)
        }
    }
}
