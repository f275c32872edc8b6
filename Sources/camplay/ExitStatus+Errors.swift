import Decoder
import Glibc
import CamNetworking
import Output
import CamCommandLine

/// The exit codes of camplay's errors.
extension ExitStatus {
    init(_ error: PlayError) {
        self =
            switch error {
            case .notOpened(_, EACCES), .notOpened(_, EPERM): .noPermission
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
            case .notOpened, .notAFile: .noInput
            case .malformed: .badInput
            case .contradiction: .usage
            case .noContainerLibrary: .unavailable
            case .readFailed, .shrunk, .interrupted: .inputOutput
            }
    }
}
