import CamNetworking
import CamPlatform
import CamRecorder
import TestSupport
import Testing

@testable import camrec

/// What is said of a recording's options before it begins.
@Suite struct StartTests {
    @Test("the test picture is not waited for, which is a note")
    func note() throws {
        func note(_ words: String...) throws -> String? { try RecordCommand.parse(words).source.waitingNote }
        #expect(try note("--device=test", "--wait=1s", "a.ts") == "--wait matters only to cameras")
        #expect(
            try note("--device=a.y4m", "--wait=1s", "--device-timeout=0", "a.ts")
                == "--wait and --device-timeout matter only to cameras")
        #expect(try note("--device=test", "a.ts") == nil)
        #expect(try note("--wait=1s", "a.ts") == nil)
    }

    @Test("five mistakes of a settings file are enough")
    func settings() {
        func problems(_ count: Int) -> [SettingsProblem] {
            (0..<count).map { SettingsProblem(path: "a.conf", line: count - $0, "wrong") }
        }
        #expect(SettingsProblems(problems(5)).problems.map(\.line) == [1, 2, 3, 4, 5])
        let many = SettingsProblems(problems(7)).problems
        #expect(many.map(\.line) == [1, 2, 3, 4, 5, nil])
        #expect(many.last?.description == "a.conf: there are more mistakes; fix these first")
        #expect(SettingsProblems(problems(2), hasMore: true).problems.map(\.line) == [1, 2, nil])
    }
}

/// `camrec ctl` right after its recording was started.
@Suite(.hangGuard) struct ControlExchangeTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path("control") }

    @Test("waits for a socket that is not there yet")
    func starting() throws {
        var (server, pauses) = (ControlServer?.none, 0)
        _ = try ControlExchange.connect(path: path, until: .distantFuture) { [path] in
            pauses += 1
            if pauses == 3 { server = try? ControlServer(PathListener(path: path)) { _ in .line("") } }
        }
        #expect(pauses == 3)
        withExtendedLifetime(server) {}
    }

    @Test("gives up in time")
    func absent() {
        var pauses = 0
        #expect(throws: NetworkError.self) {
            _ = try ControlExchange.connect(path: path, until: .start) { pauses += 1 }
        }
        #expect(pauses == 0)
    }
}
