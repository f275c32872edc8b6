import Capture
import Time

/// Waits for a camera that is in use, or not there yet.
///
/// Neither flock(2) nor V4L2 offers a wait with a limit, so the camera is tried again and again.
public struct CameraWait {
    /// What happened to the last try.
    public struct Failure {
        public let error: CaptureError
        /// It is the first one.
        public let isFirst: Bool
        /// Another program has the camera; otherwise the camera is absent.
        public let isBusy: Bool
    }

    private let busyPatience: Duration?
    private let absencePatience: Duration?
    private let clock: any RestartClock

    static let busyInterval = Duration.milliseconds(200)
    static let absenceInterval = Duration.seconds(1)

    /// - Parameters:
    ///   - busyPatience: how long to wait for a camera in use; nil forever.
    ///   - absencePatience: how long to wait for an absent camera; nil forever.
    public init(busyPatience: Duration?, absencePatience: Duration?) {
        self.init(busyPatience: busyPatience, absencePatience: absencePatience, clock: RecordingStop())
    }

    init(busyPatience: Duration?, absencePatience: Duration?, clock: any RestartClock) {
        self.busyPatience = busyPatience
        self.absencePatience = absencePatience
        self.clock = clock
    }

    /// Opens a camera, as soon as that is possible.
    /// - Parameters:
    ///   - isOver: whether the recording's time has run out meanwhile, which ends the wait.
    ///   - failed: called after each try that is followed by another.
    /// - Throws: the error of the last try: patience is over, or the error is not one that time mends.
    public func open(
        _ open: () throws(CaptureError) -> any CaptureStream, isOver: () -> Bool, failed: (Failure) -> Void
    ) throws(CaptureError) -> any CaptureStream {
        let start = clock.now
        var isFirst = true
        while true {
            do throws(CaptureError) { return try open() } catch {
                guard error.isBusy || error.isAbsence, !isOver() else { throw error }
                let patience = error.isBusy ? busyPatience : absencePatience
                if let patience, clock.now - start >= patience { throw error }
                failed(Failure(error: error, isFirst: isFirst, isBusy: error.isBusy))
                isFirst = false
                _ = clock.wait(
                    until: clock.now + (error.isBusy ? Self.busyInterval : Self.absenceInterval))
            }
        }
    }
}

extension CaptureError {
    /// The camera is not there now, and may be later.
    fileprivate var isAbsence: Bool {
        switch kind {
        case .noCamera, .notFound, .lost: true
        default: false
        }
    }

    /// Another program has the camera.
    fileprivate var isBusy: Bool { if case .busy = kind { true } else { false } }
}
