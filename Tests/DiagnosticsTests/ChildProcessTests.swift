import Diagnostics
import Testing

/// What happens to processes that hang or are killed.
@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
    private func run(_ script: String, patience: Duration? = nil) -> ChildProcess.Ending {
        ChildProcess.run(program: "/bin/sh", ["-c", script], patience: patience)
    }

    @Test("returns the child's output, up to a limit")
    func done() {
        #expect(run("printf abc") == .done(Array("abc".utf8)))
        #expect(run("head -c 100000 /dev/zero") == .done([UInt8](repeating: 0, count: 65536)))
    }

    @Test("reports a signal and an exit code")
    func failed() {
        #expect(run("echo abc; kill -ABRT $$") == .failed("signal 6, Aborted"))
        #expect(run("exit 3") == .failed("exit code 3"))
        guard case .failed = ChildProcess.run(program: "/nowhere", [], patience: .seconds(1)) else {
            Issue.record("a program that is not there was run")
            return
        }
    }

    @Test("kills a silent child")
    func silent() { #expect(run("exec sleep 1000", patience: .milliseconds(50)) == .silent) }
}
