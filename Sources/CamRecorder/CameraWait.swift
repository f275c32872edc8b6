import Capture
import Glibc
import CamPlatform

/// Waits for a camera that is busy or absent.
///
/// Neither flock(2) nor V4L2 can wait with a timeout, so `CameraWait` retries.
package struct CameraWait {
    /// A failed attempt.
    package struct Failure {
        package let error: CaptureError
        /// Whether this was the first attempt.
        package let isFirst: Bool
        /// Whether another program is using the camera; otherwise the camera is absent.
        package let isBusy: Bool
    }

    private let busyPatience: Duration?
    private let absencePatience: Duration?
    private let clock: any InterruptibleClock

    static let busyInterval = Duration.milliseconds(200)
    static let absenceInterval = Duration.seconds(1)

    /// - Parameters:
    ///   - busyPatience: how long to wait for a busy camera; nil forever.
    ///   - absencePatience: how long to wait for an absent camera; nil forever.
    package init(busyPatience: Duration?, absencePatience: Duration?) {
        self.init(busyPatience: busyPatience, absencePatience: absencePatience, clock: RecordingStop())
    }

    init(busyPatience: Duration?, absencePatience: Duration?, clock: any InterruptibleClock) {
        self.busyPatience = busyPatience
        self.absencePatience = absencePatience
        self.clock = clock
    }

    /// Opens the camera as soon as possible.
    /// - Parameters:
    ///   - isOver: whether the recording's time has run out, which ends the wait.
    ///   - failed: called after each attempt that will be retried.
    /// - Throws: the last attempt's error, if patience has run out or retrying cannot help.
    package func open(
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
    /// Whether the camera is absent but may appear later.
    var isAbsence: Bool {
        switch kind {
        case .noCamera, .notFound, .lost: true
        // A USB camera fails like this between its unplugging and the kernel's notice of it.
        case .systemCallFailed(_, EPROTO), .systemCallFailed(_, ESHUTDOWN), .systemCallFailed(_, EIO): true
        default: false
        }
    }

    /// Whether another program is using the camera.
    fileprivate var isBusy: Bool { if case .busy = kind { true } else { false } }
}
