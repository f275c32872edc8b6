import Glibc
import CamPictures
import CamPlatform

/// Why a source could not be opened or stopped delivering. `description` is one line: thing, cause, next
/// step.
public struct CaptureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause.
    public enum Kind: Sendable, Equatable {
        case noCamera
        case notFound
        /// A name that is neither a device path nor a built-in source, with a suggestion of what to type.
        case unknownSource(advice: String)
        case notACaptureDevice(String)
        /// `holder` is the program that uses it, if that could be determined.
        case busy(holder: String?)
        case permissionDenied(group: String?)
        /// The requested format or size is not offered; the text names the offered ones.
        case unsupported(String)
        /// It offers only these formats, none of which camrec reads.
        case unreadable([PixelFormat])
        /// USB has no bandwidth for the stream (ENOSPC at STREAMON).
        case noBandwidth
        /// The device is gone (ENODEV).
        case lost
        /// No frame within the deadline, in seconds.
        case silent(for: Duration)
        /// The captured signal changed its size or rate (V4L2_EVENT_SOURCE_CHANGE).
        case sourceChanged
        /// No device reads the camera's shared memory any more, and the processor may read it slowly.
        case sharingEnded
        /// The driver returned something impossible.
        case driverMisbehaved(String)
        /// The file is malformed or ends early.
        case badFile(String)
        /// No file has this name.
        case noFile
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

    /// What can be done about a failure.
    public enum Recovery: Sendable, Equatable {
        /// Stop streaming and start again; the device stays open.
        case restartStream
        /// Close the device, unmap its buffers, and open the same camera again.
        case reopenDevice
        case stop
    }

    /// What can be done about this error, once the source has delivered.
    public var recovery: Recovery {
        switch kind {
        case .silent, .sharingEnded, .systemCallFailed("VIDIOC_DQBUF", errno: EIO): .restartStream
        case .noCamera, .notFound, .notACaptureDevice, .busy, .permissionDenied, .noBandwidth, .lost,
            .sourceChanged, .driverMisbehaved, .systemCallFailed:
            .reopenDevice
        case .unsupported, .unreadable, .badFile, .noFile, .unknownSource: .stop
        }
    }

    /// The cause alone, without the device and the next step.
    public var reason: String {
        switch kind {
        case .noCamera: "no camera found"
        case .notFound, .unknownSource: "no such device"
        case .notACaptureDevice(let reason): "not a capture device: \(reason)"
        case .busy(let holder): "in use by \(holder ?? "another program")"
        case .permissionDenied: "permission denied"
        case .unsupported(let detail), .badFile(let detail): detail
        case .noFile: "no such file"
        case .unreadable(let formats):
            "it only offers formats that camrec cannot read: "
                + formats.map(\.description).joined(separator: ", ")
        case .noBandwidth: "not enough USB bandwidth"
        case .lost: "the camera was disconnected"
        case .silent(let time): "no usable frame for \(Int(time.inSeconds.rounded(.up))) s"
        case .sourceChanged: "the source changed its picture size or rate"
        case .sharingEnded: "the GPU no longer reads its pictures"
        case .driverMisbehaved(let detail): "driver error (\(detail))"
        case .systemCallFailed(_, EMFILE), .systemCallFailed(_, ENFILE): "too many open files"
        case .systemCallFailed(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
        }
    }

    public var description: String {
        switch kind {
        case .noCamera:
            "\(reason); plug one in, or use --device test for a test picture"
        case .notFound:
            "\(device): \(reason); 'camrec devices' lists the cameras"
        case .unknownSource(let advice):
            "\(device): \(reason); \(advice)"
        case .notACaptureDevice(let reason):
            "\(device): not a capture device: \(reason); 'camrec devices' lists the cameras"
        case .busy(let holder):
            "\(device): busy: in use by \(holder ?? "another program"); close it or add --wait 30s"
        case .permissionDenied(let group):
            if let group {
                "\(device): \(reason); add your user to group '\(group)' and log in again"
            } else {
                "\(device): \(reason); check its permissions"
            }
        case .unsupported:
            "\(device): \(reason)"
        case .unreadable:
            "\(device): \(reason); 'camrec devices' lists the cameras"
        case .noBandwidth:
            "\(device): \(reason); use a smaller --size, a lower --fps, --format mjpeg, or another port"
        case .lost:
            "\(device): \(reason); check its cable and record again"
        case .silent:
            "\(device): \(reason); unplug the camera and plug it in again"
        case .sourceChanged:
            "\(device): \(reason); record again"
        case .sharingEnded:
            "\(device): \(reason); record with --zero-copy off"
        case .driverMisbehaved:
            "\(device): \(reason); try another --format, and report it to the driver's maintainers"
        case .noFile:
            "\(device): \(reason); check its name and folder"
        case .badFile:
            "\(device): \(reason); check the file, or create it again"
        case .systemCallFailed(_, EMFILE), .systemCallFailed(_, ENFILE):
            "\(device): \(reason); raise 'ulimit -n'"
        case .systemCallFailed:
            "\(device): \(reason); try again, or unplug the camera and plug it in again"
        }
    }
}
