import Capture
import Pictures
import Time

/// Opens a source again, for a stream that continues one of this format.
public typealias SourceFactory = (PictureFormat) throws(CaptureError) -> any CaptureStream

/// Where a recording's pictures come from.
public struct RecordingSource {
    /// Already open, so that its failure to open is told before anything is recorded.
    public var stream: any CaptureStream
    /// Opens the source again after it went away; nil where its end is the recording's. Called on the capture
    /// thread.
    public var reopen: SourceFactory?
    /// How long it may be without pictures; nil forever, zero for not at all.
    public var timeout: Duration?
    /// Told when the source went away and when it is back. Called on the capture thread.
    public var report: (SourceEvent) -> Void

    /// A source that ends the recording when it fails, unless it can be opened again.
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

/// What happens to a source while it is recorded from. `description` is one line.
public enum SourceEvent: Sendable, Equatable, CustomStringConvertible {
    /// It went away, and is not back at once.
    /// - Parameter timeout: how long camrec waits for it; nil forever.
    case waiting(CaptureError, timeout: Duration?)
    /// Its pictures come again.
    /// - Parameters:
    ///   - device: the path that it has now.
    ///   - after: the time without a picture.
    ///   - untold: how often the same happened since the last time that it was told.
    case resumed(CaptureError, device: String, after: Duration, untold: Int)

    public var description: String {
        switch self {
        case .waiting(let error, let timeout):
            "\(error.device): \(error.reason); waiting for it"
                + (timeout.map { " for \($0.inMilliseconds / 1000) s" } ?? " as long as it takes")
        case .resumed(let error, let device, let time, let untold):
            "\(error.device): \(error.reason); recording goes on"
                + (device == error.device ? "" : " from \(device)")
                + " after \(Double(time.inMilliseconds / 100) / 10) s without a picture"
                + (untold == 0 ? "" : " (\(untold + 1) times since last reported)")
        }
    }
}
