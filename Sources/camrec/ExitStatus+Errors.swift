import Capture
import Encoder
import Glibc
import CamRecorder
import CamCommandLine
import Containers

/// The exit codes of camrec's errors.
extension ExitStatus {
    /// Ends the process immediately if a thread hangs in a driver: libraries' exit handlers may wait for it.
    func endProcess() -> Never { _exit(rawValue) }

    init(_ error: RecordingError) {
        switch error {
        case .capture(let error): self.init(error)
        case .encoder(let error): self.init(error)
        case .output(let error): self.init(error)
        case .input(let error): self.init(error)
        case .sound: self = .unavailable
        case .noResources: self = .inputOutput
        }
    }

    init(_ error: OutputError) {
        self =
            switch error.kind {
            case .noContainerLibrary: .unavailable
            default: error.isCreation ? .cannotCreate : .inputOutput
            }
    }

    init(_ error: SnapshotError) {
        switch error {
        case .capture(let error): self.init(error)
        case .output(let error): self.init(error)
        case .input(let error): self.init(error)
        case .conversion(.outOfMemory, _): self = .inputOutput
        case .conversion: self = .usage
        case .allDamaged, .image: self = .inputOutput
        case .noPicture: self = .badInput
        }
    }

    init(_ error: RemuxError) {
        switch error {
        case .output(let error): self.init(error)
        case .input(let error): self.init(error)
        case .noFrameRate, .tooFewTimestamps, .beyondEnd: self = .badInput
        case .otherCodec: self = .usage
        case .interrupted: self = .inputOutput
        }
    }

    init(_ error: InputError) {
        self =
            switch error.kind {
            case .notOpened(EACCES): .noPermission
            case .notOpened(ENOENT): .noInput
            case .notOpened(EMFILE), .notOpened(ENFILE): .inputOutput
            case .notOpened, .notAFile, .malformed: .badInput
            case .contradiction: .usage
            case .noContainerLibrary: .unavailable
            case .readFailed, .shrunk, .interrupted: .inputOutput
            }
    }

    init(_ error: CaptureError) {
        self =
            switch error.kind {
            case .noCamera, .notFound, .unknownSource, .noFile, .notACaptureDevice, .unreadable: .noInput
            case .busy: .busy
            case .permissionDenied: .noPermission
            case .unsupported: .usage
            case .badFile: .badInput
            case .noBandwidth, .lost, .silent, .sourceChanged, .sharingEnded, .driverMisbehaved,
                .systemCallFailed:
                .inputOutput
            }
    }

    init(_ error: EncoderError) {
        self =
            switch error.kind {
            case .nodePermissionDenied: .noPermission
            case .contradiction: .usage
            case .damagedPicture, .beforeIDR: .inputOutput
            default: .unavailable
            }
    }
}
