import Capture
import CamPictures
import CamPlatform

/// Reopens a source, for a stream that continues one of this format.
public typealias SourceFactory = (PictureFormat) throws(CaptureError) -> any CaptureStream

/// The source of a recording's pictures.
public struct RecordingSource {
    /// Already open, so that a failure is reported before recording starts.
    public var stream: any CaptureStream
    /// Reopens the source after it disappeared; nil to end the recording with it. Called on the capture
    /// thread.
    public var reopen: SourceFactory?
    /// How long it may be without pictures; nil forever, zero not at all.
    public var timeout: Duration?
    /// Called on the capture thread when the source disappears and when it is back.
    public var report: (SourceEvent) -> Void

    /// Creates a source whose failure ends the recording, unless it can be reopened.
    public init(
        _ stream: any CaptureStream, reopen: SourceFactory? = nil, timeout: Duration? = .zero,
        report: @escaping (SourceEvent) -> Void = { _ in }
    ) {
        self.stream = stream
        self.reopen = reopen
        self.timeout = timeout
        self.report = report
    }
}

/// A change in the source during a recording. `description` is one line.
public enum SourceEvent: Sendable, Equatable, CustomStringConvertible {
    /// It disappeared and did not come back immediately.
    /// - Parameter timeout: how long camrec waits for it; nil forever.
    case waiting(CaptureError, timeout: Duration?)
    /// It delivers pictures again.
    /// - Parameters:
    ///   - device: its current path.
    ///   - after: the time without pictures.
    ///   - suppressed: how many such events went unreported since the last report.
    case resumed(CaptureError, device: String, after: Duration, suppressed: Int)
    /// The process or the machine stood still, and the source delivers again.
    case stoodStill(Standstill)
    /// Its driver's times of capture are wrong and are corrected.
    case wrongTimes(TimestampFault, device: String)

    public var description: String {
        switch self {
        case .waiting(let error, let timeout):
            "\(error.device): \(error.reason); waiting for it"
                + (timeout.map { " for \($0.inMilliseconds / 1000) s" } ?? " as long as it takes")
        case .resumed(let error, let device, let time, let suppressed):
            "\(error.device): \(error.reason); recording continues"
                + (device == error.device ? "" : " from \(device)")
                + " after \(Self.decimal(time)) s without a picture"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)")
        case .stoodStill(.suspended(let duration)):
            "the machine was suspended for \(Self.decimal(duration)) s; recording continues"
        case .stoodStill(.stopped(let duration)):
            "camrec was stopped for \(Self.decimal(duration)) s; recording continues"
        case .wrongTimes(.standing, let device):
            "\(device): its driver repeats the same time of capture; recording continues with the times of arrival"
        case .wrongTimes(.jumped(let jump), let device):
            "\(device): its driver's time of capture jumped \(jump < .zero ? "back" : "ahead") by "
                + "\(Self.decimal(jump.magnitude)) s; recording continues with corrected times"
        }
    }

    private static func decimal(_ duration: Duration) -> Double { Double(duration.inMilliseconds / 100) / 10 }
}
