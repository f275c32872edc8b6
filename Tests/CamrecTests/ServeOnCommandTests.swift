import Bitstream
import CamRecorder
import Testing

@testable import camrec

/// A service that is restarted after its files have ended, and still serves.
@Suite struct ServeOnCommandTests {
    @Test("live outputs continue alone, with the codec that they had")
    func withoutFiles() throws {
        let command = try RecordCommand.parse([
            "--serve-on", "--duration=1h", "--listen=9982", "--segment=10m", "--timestamps=t.txt",
            "--report=r",
            "rtsp://host/cam", "a.h265",
        ]).withoutFiles
        #expect(command.choices.map(\.path) == ["rtsp://host/cam", "127.0.0.1:9982"])
        #expect(command.choices.allSatisfy { $0.codec == .hevc })
        #expect(command.length.limits == RecordingLimits())
        #expect(command.segments.schedule == nil && command.reporting.report == "r")
        #expect(command.refusal == nil)
    }

    @Test("outputs of a settings file, too")
    func settings() throws {
        let command = try RecordCommand.parse([
            "--serve-on", "--duration=1h", "--output=tcp://host:1", "--output=a.mkv",
        ]).withoutFiles
        #expect(command.choices.map(\.path) == ["tcp://host:1"])
    }
}

/// What programs that camrec starts find in their environment.
@Suite struct ProgramEnvironmentTests {
    @Test("all that camrec has, without what the service manager says to it alone, and without the password")
    func filtered() {
        let own = [
            "PATH=/bin", "NOTIFY_SOCKET=/run/notify", "WATCHDOG_USEC=1", "CAMREC_PASSWORD=secret",
            "CAMREC_PATH=/old", "CAMREC_REMOTE=a:b=c", "CREDENTIALS_DIRECTORY=/run/credentials", "EMPTY=",
        ]
        #expect(
            ProgramEnvironment.forPrograms(own) == [
                "PATH=/bin", "CAMREC_REMOTE=a:b=c", "CREDENTIALS_DIRECTORY=/run/credentials", "EMPTY=",
            ])
    }

    @Test("this process's own")
    func own() { #expect(ProgramEnvironment.own.contains { $0.hasPrefix("PATH=") }) }
}
