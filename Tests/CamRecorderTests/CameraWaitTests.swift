import Capture
import Glibc
import Testing
import CamPlatform

@testable import CamRecorder

/// Cameras that are in use or missing, on a clock that moves only during waits.
@Suite struct CameraWaitTests {
    private let clock = ScriptedInterruptibleClock()

    /// The result of a wait.
    private struct Run {
        var failures: [CameraWait.Failure] = []
        var error: CaptureError?
        var isOpen = false
        var seconds = 0.0
    }

    /// Opens a camera; the first attempts fail with these errors, later ones succeed.
    private func open(
        _ kinds: [CaptureError.Kind], busy: Int? = 0, absent: Int? = 0, isOver: () -> Bool = { false }
    ) throws -> Run {
        let wait = CameraWait(
            busyPatience: busy.map { .seconds($0) }, absencePatience: absent.map { .seconds($0) },
            clock: clock)
        let stream = try ScriptedStream([])
        var (run, left, start) = (Run(), kinds[...], clock.now)
        do throws(CaptureError) {
            _ = try wait.open { () throws(CaptureError) in
                if let kind = left.popFirst() { throw CaptureError(kind, device: "/dev/video0") }
                return stream
            } isOver: {
                isOver()
            } failed: {
                run.failures.append($0)
            }
            run.isOpen = true
        } catch { run.error = error }
        run.seconds = (clock.now - start).inSeconds
        return run
    }

    @Test("opens an available camera at once")
    func present() throws {
        let run = try open([])
        #expect(run.isOpen)
        #expect(run.seconds == 0)
        #expect(run.failures.isEmpty)
    }

    @Test(
        "without patience the first error is the result",
        arguments: [CaptureError.Kind.notFound, .busy(holder: nil)])
    func impatience(kind: CaptureError.Kind) throws {
        let run = try open([kind])
        #expect(run.error?.kind == kind)
        #expect(run.failures.isEmpty)
        #expect(run.seconds == 0)
    }

    @Test("a camera in use is tried five times a second, and the first failure is marked")
    func busy() throws {
        let run = try open(Array(repeating: .busy(holder: nil), count: 10), busy: 30)
        #expect(run.isOpen)
        #expect(run.seconds == 2)
        #expect(run.failures.map(\.isFirst) == [true] + Array(repeating: false, count: 9))
        #expect(run.failures.allSatisfy { $0.isBusy })
    }

    @Test(
        "an absent camera is tried once a second",
        arguments: [
            CaptureError.Kind.noCamera, .notFound, .lost, .systemCallFailed("VIDIOC_S_FMT", errno: EIO),
        ])
    func absent(kind: CaptureError.Kind) throws {
        let run = try open(Array(repeating: kind, count: 100), absent: nil)
        #expect(run.isOpen)
        #expect(run.seconds == 100)
        #expect(!run.failures.contains { $0.isBusy })
    }

    @Test("each timeout ends its own wait, with the last error")
    func patience() throws {
        let busy = try open(Array(repeating: .busy(holder: nil), count: 1000), busy: 3, absent: nil)
        #expect(busy.error?.kind == .busy(holder: nil))
        #expect(busy.seconds == 3)
        let absent = try open(Array(repeating: .notFound, count: 1000), busy: nil, absent: 7)
        #expect(absent.error?.kind == .notFound)
        #expect(absent.seconds == 7)
    }

    @Test("waits for a camera that appears in use with the other timeout, from the same start")
    func bothReasons() throws {
        let kinds: [CaptureError.Kind] = Array(repeating: .notFound, count: 4) + [.busy(holder: nil)]
        let (long, short) = (try open(kinds, busy: 5, absent: 10), try open(kinds, busy: 4, absent: 10))
        #expect(long.isOpen)
        #expect(short.error?.kind == .busy(holder: nil))
    }

    @Test("an error that waiting cannot fix ends the wait at once")
    func otherErrors() throws {
        let run = try open([.notFound, .permissionDenied(group: nil), .notFound], busy: nil, absent: nil)
        #expect(run.error?.kind == .permissionDenied(group: nil))
        #expect(run.failures.count == 1)
    }

    @Test("a recording whose time has run out waits no longer")
    func deadline() throws {
        let end = clock.now + .seconds(20)
        let run = try open(
            Array(repeating: .notFound, count: 1000), absent: nil, isOver: { clock.now >= end })
        #expect(run.error?.kind == .notFound)
        #expect(run.seconds == 20)
    }
}
