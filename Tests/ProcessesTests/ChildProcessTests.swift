import Files
import Glibc
import Processes
import TestSupport
import Testing

/// What happens to processes that hang or are killed.
@Suite(.hangGuard) struct ChildProcessTests {
    private func run(_ script: String, patience: Duration? = nil) -> ChildProcess.Ending {
        ChildProcess.run(program: "/bin/sh", ["-c", script], patience: patience)
    }

    @Test("returns the child's output, up to a limit")
    func done() {
        #expect(run("printf abc") == .ended(.exited(0), output: Array("abc".utf8)))
        #expect(
            run("head -c 300000 /dev/zero")
                == .ended(.exited(0), output: [UInt8](repeating: 0, count: 256 << 10)))
    }

    @Test("reports a signal and an exit code")
    func failed() {
        #expect(
            run("echo abc; kill -ABRT $$") == .ended(.killed(signal: 6), output: Array("abc\n".utf8)))
        #expect(run("exit 3") == .ended(.exited(3), output: []))
        guard case .failed = ChildProcess.run(program: "/nowhere", [], patience: .seconds(1)) else {
            Issue.record("a program that is not there was run")
            return
        }
    }

    @Test("the child has the given environment and no other variable")
    func environment() {
        #expect(
            ChildProcess.run(program: "/usr/bin/env", [], environment: ["A=1"], patience: nil)
                == .ended(.exited(0), output: Array("A=1\n".utf8)))
    }

    @Test("kills a child that has written everything and does not end")
    func endless() {
        #expect(run("echo abc; exec >&-; exec sleep 1000", patience: .milliseconds(50)) == .silent)
    }

    @Test("leaves no zombie, whoever keeps the child's output open")
    func zombie() throws {
        let folder = TemporaryFolder()
        let file = folder.path("pid")
        // The second process keeps the pipe open when the first is killed.
        #expect(run("echo $$ >\(file); sleep 5 & exec sleep 1000", patience: .milliseconds(300)) == .silent)
        let process = String(decoding: try WholeFile.read(file, atMost: 100), as: UTF8.self)
            .split(separator: "\n").first.flatMap { pid_t($0) }
        // Only a zombie is still there.
        #expect(kill(try #require(process), 0) == -1)
    }

    @Test("kills a silent child")
    func silent() { #expect(run("exec sleep 1000", patience: .milliseconds(50)) == .silent) }
}
