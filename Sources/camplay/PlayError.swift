import CamCommandLine
import CamPlatform
import CamNetworking
import Decoder
import Glibc
import Containers

/// Why playing ended early. `description` is one line: thing, cause, next step.
enum PlayError: Error, CustomStringConvertible {
    case notOpened(String, errno: Int32)
    case readFailed(String, errno: Int32)
    /// The input is no stream; the text names its kind.
    case notAStream(String, String)
    /// No picture of the stream could be decoded.
    case noPicture(String, reason: String?)
    case network(NetworkError)
    case decoder(DecoderError)
    case output(OutputError)
    /// The timestamp file cannot be read.
    case timestamps(InputError)
    /// The container, or a file that belongs to the stream, cannot be read.
    case input(InputError)
    /// The timestamp file ended before the stream did.
    case tooFewTimestamps(String, count: Int)
    case noDisplay(reason: String)
    /// The display cannot show such a picture.
    case notShown(reason: String)
    /// There is no loudspeaker that can be used.
    case noSpeaker(reason: String)
    case noResources

    var description: String {
        switch self {
        case .notOpened(let name, ENOENT), .notOpened(let name, ENOTDIR):
            "\(name): no such file; check its name"
        case .notOpened(let name, EISDIR): "\(name): is a folder; name a recording"
        case .notOpened(let name, let code): InputError(.notOpened(errno: code), input: name).description
        case .readFailed(let name, EBADF):
            "\(name): closed, or not readable; redirect it, or name a file"
        case .readFailed(let name, let code): "\(name): reading failed: \(Self.words(code)); check the disk"
        case .notAStream(let name, let problem): "\(name): \(problem)"
        case .noPicture(let name, nil): "\(name): it is empty; give a recording, or a stream"
        case .noPicture(let name, let reason?):
            "\(name): no picture could be decoded: \(reason); 'camrec inspect' shows what is in it"
        case .network(let error): error.description
        case .decoder(let error): error.description
        case .output(let error): error.description
        case .timestamps(let error), .input(let error): error.description
        case .tooFewTimestamps(let name, let count):
            "\(name) has only \(Quantity.count(count, "time")) for more pictures; use the file of this recording"
        case .noDisplay(let reason):
            "no display (\(reason)); use --no-window with --output, --save or --snapshot"
        case .notShown(let reason):
            "cannot show the picture (\(reason)); use --no-window"
        case .noSpeaker(let reason): "no loudspeaker (\(reason)); --no-sound plays without one"
        case .noResources: "out of threads or descriptors; raise 'ulimit -n' and 'ulimit -u'"
        }
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}

// MARK: Exit codes

/// The exit codes of camplay's errors.
extension ExitStatus {
    init(_ error: PlayError) {
        self =
            switch error {
            case .notOpened(_, EACCES), .notOpened(_, EPERM): .noPermission
            case .notOpened(_, EMFILE), .notOpened(_, ENFILE): .inputOutput
            case .notOpened: .noInput
            case .notAStream, .noPicture, .tooFewTimestamps: .badInput
            case .timestamps(let error), .input(let error): ExitStatus(error)
            case .output(let error): error.isCreation ? .cannotCreate : .inputOutput
            case .decoder(let error): ExitStatus(error)
            case .noDisplay, .notShown, .noSpeaker: .unavailable
            case .network(let error): ExitStatus(error)
            case .readFailed, .noResources: .inputOutput
            }
    }

    private init(_ error: DecoderError) {
        self =
            switch error.kind {
            case .noDecoder, .openFailed, .driverHangs: .unavailable
            case .conversionFailed, .image, .outOfMemory: .inputOutput
            case .unreadableImage: .badInput
            }
    }

    private init(_ error: NetworkError) {
        self =
            switch error.kind {
            case .unknownHost: .noInput
            case .notListening: .cannotCreate
            default: .inputOutput
            }
    }

    private init(_ error: InputError) {
        self =
            switch error.kind {
            case .notOpened(EACCES), .notOpened(EPERM): .noPermission
            case .notOpened(EMFILE), .notOpened(ENFILE): .inputOutput
            case .notOpened, .notAFile: .noInput
            case .malformed: .badInput
            case .contradiction: .usage
            case .noContainerLibrary: .unavailable
            case .readFailed, .shrunk, .interrupted: .inputOutput
            }
    }
}
