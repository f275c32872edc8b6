import Glibc

/// Why a source could not be opened or stopped delivering. `description` is one line: thing, cause, next step.
public struct CaptureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        case noCamera
        case notFound
        case notACaptureDevice(String)
        /// `holder` is the program that has it, where it could be found out.
        case busy(holder: String?)
        case permissionDenied(group: String?)
        /// The format or size asked for is not offered; the text says what is.
        case unsupported(String)
        /// USB has no room for the stream (ENOSPC at STREAMON).
        case noBandwidth
        /// The device is gone (ENODEV).
        case lost
        /// No frame within the deadline, in seconds.
        case silent(seconds: Double)
        /// The driver said something that cannot be true.
        case driverMisbehaved(String)
        /// The file is not what it claims to be, or ends early.
        case badFile(String)
        case systemCallFailed(String, errno: Int32)
    }

    /// The cause.
    public let kind: Kind
    /// The device's path or the file's name.
    public let device: String

    /// An error of a device.
    public init(_ kind: Kind, device: String) {
        self.kind = kind
        self.device = device
    }

    public var description: String {
        switch kind {
        case .noCamera:
            "no camera found; plug one in, or use --device test for a test picture"
        case .notFound:
            "\(device): no such device; 'camrec devices' lists the cameras"
        case .notACaptureDevice(let reason):
            "\(device) is not a capture device: \(reason); 'camrec devices' lists the cameras"
        case .busy(let holder):
            "\(device) is in use by \(holder ?? "another program"); close it and try again"
        case .permissionDenied(let group):
            if let group {
                "\(device): permission denied; add your user to group '\(group)' and log in again"
            } else {
                "\(device): permission denied; check who may read and write it"
            }
        case .unsupported(let detail):
            "\(device): \(detail)"
        case .noBandwidth:
            "\(device): not enough USB bandwidth; use a smaller --size, a lower --fps, --format mjpeg, or another port"
        case .lost:
            "\(device): the camera was disconnected; check its cable and record again"
        case .silent(let seconds):
            "\(device): no usable frame for \(Int(seconds.rounded(.up))) s; unplug the camera and plug it in again"
        case .driverMisbehaved(let detail):
            "\(device): the driver misbehaves (\(detail)); try another --format, and report it to the driver's authors"
        case .badFile(let detail):
            "\(device): \(detail); check the file, or make it anew"
        case .systemCallFailed(let call, let code):
            switch code {
            case EMFILE, ENFILE: "\(device): too many open files; raise 'ulimit -n'"
            default:
                "\(device): \(call) failed: \(String(cString: strerror(code))); try again, or unplug the camera "
                    + "and plug it in again"
            }
        }
    }
}
