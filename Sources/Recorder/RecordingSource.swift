import Capture
import Pictures
import Time

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

    public var description: String {
        switch self {
        case .waiting(let error, let timeout):
            "\(error.device): \(error.reason); waiting for it"
                + (timeout.map { " for \($0.inMilliseconds / 1000) s" } ?? " as long as it takes")
        case .resumed(let error, let device, let time, let suppressed):
            "\(error.device): \(error.reason); recording continues"
                + (device == error.device ? "" : " from \(device)")
                + " after \(Double(time.inMilliseconds / 100) / 10) s without a picture"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)")
        }
    }
}
