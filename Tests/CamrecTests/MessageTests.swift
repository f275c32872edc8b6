import CamPlatform
import Capture
import Testing

@testable import camrec

/// The lines that a user reads while a recording waits and runs.
@Suite struct MessageTests {
    private let start = Instant.start

    @Test("the rate is that of the camera, not that of an encoder which returns what it held back")
    func rate() {
        var progress = Progress(start: start)
        var figures = Progress.Figures(frames: 1, bytes: 0, captured: 30)
        #expect(
            progress.line(figures, at: start + .seconds(1))
                == "1 frame  30.0 fps  0.0 Mbit/s  0 dropped  00:00:01")
        figures = Progress.Figures(frames: 59, bytes: 250_000, captured: 60, dropped: 2)
        #expect(
            progress.line(figures, at: start + .seconds(2))
                == "59 frames  30.0 fps  2.0 Mbit/s  2 dropped  00:00:02")
    }

    @Test("nothing is a rate once the pictures have ended")
    func ending() {
        var progress = Progress(start: start)
        let figures = Progress.Figures(frames: 200, bytes: 9_000_000, captured: 200, isEnding: true)
        #expect(
            progress.line(figures, at: start + .milliseconds(500))
                == "200 frames  finishing  0 dropped  00:00:00")
    }

    @Test("a ring says what it keeps")
    func ring() {
        var progress = Progress(start: start)
        let figures = Progress.Figures(captured: 60, keptTime: .milliseconds(2900))
        #expect(
            progress.line(figures, at: start + .seconds(2))
                == "ring: 2 s kept, waiting for a trigger  30.0 fps  0 dropped  00:00:02")
    }

    @Test(
        "a wait says for what, for how long, and what ends it",
        arguments: [
            (
                CaptureError(.busy(holder: "cheese (pid 7)"), device: "/dev/video0"), Duration.seconds(30),
                "waiting for /dev/video0 for 30 s (Ctrl-C ends): in use by cheese (pid 7)"
            ),
            (
                CaptureError(.notFound, device: "/dev/video9"), nil,
                "waiting for /dev/video9 (Ctrl-C ends): no such device; 'camrec devices' lists the cameras"
            ),
            (
                CaptureError(.noCamera, device: "/dev/video0"), .milliseconds(1500),
                "waiting for a camera for 1.5 s (Ctrl-C ends): no camera found"
            ),
        ] as [(CaptureError, Duration?, String)])
    func waiting(error: CaptureError, patience: Duration?, text: String) {
        #expect(RecordingNotes.waiting(error, for: patience) == text)
    }
}
