import Glibc
import TestSupport
import Testing

@testable import CamPlatform

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
        #expect(run("echo abc; exec >&-; exec sleep 20", patience: .seconds(1)) == .silent)
    }

    @Test("leaves no zombie, even if another process keeps the child's output open")
    func zombie() throws {
        let folder = TemporaryFolder()
        let file = folder.path("pid")
        // The second process keeps the pipe open when the first is killed.
        #expect(run("echo $$ >\(file); sleep 5 & exec sleep 20", patience: .seconds(2)) == .silent)
        let process = String(decoding: try WholeFile.read(file, atMost: 100), as: UTF8.self)
            .split(separator: "\n").first.flatMap { pid_t($0) }
        // Only a zombie is still there.
        #expect(kill(try #require(process), 0) == -1)
    }

    @Test("children get the limit of descriptors that this process was started with")
    func descriptors() throws {
        var former = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former)
        // Not this process's own, which other tests need.
        let lower = rlimit(rlim_cur: min(100, former.rlim_max), rlim_max: former.rlim_max)
        let limit = DescriptorLimit(count: Int(clamping: former.rlim_max), original: lower)
        let (reader, writer) = try pipe()
        defer { close(reader) }
        do {
            defer { close(writer) }
            let child = try SpawnedProcess(
                "sh", ["-c", "ulimit -Sn; ulimit -Hn"], output: writer, limit: limit)
            #expect(try child.wait() == .exited(0))
        }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(reader, &bytes, bytes.count)
        let words = String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: "\n")
        #expect(words.first == "\(lower.rlim_cur)")
        #expect(words.last == "\(former.rlim_max)" || words.last == "unlimited")
    }

    private func pipe() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test(
        "leaves descriptors for files and cameras, however few there are", arguments: [16, 40, 1024, 1 << 20])
    func reserve(count: Int) {
        let end = DescriptorLimit(count: count).reserve(outputs: 2)
        #expect((0...count - 12).contains(end))
        #expect(count < 1024 || count - end >= 64)
    }

    @Test("finds a program in PATH, and says why one does not start")
    func path() {
        #expect(ChildProcess.run(program: "true", [], patience: nil) == .ended(.exited(0), output: []))
        for (program, reason) in ["no-such-program": "No such file", "/dev/null": "Permission denied"] {
            guard case .failed(let text) = ChildProcess.run(program: program, [], patience: nil) else {
                Issue.record("\(program) was run")
                continue
            }
            #expect(text.contains(reason))
        }
    }

    @Test(
        "says why a program could not be started, without starting it",
        arguments: [
            ("true", nil), ("/bin/true", nil), ("no-such-program", ENOENT), ("/nowhere/upload", ENOENT),
            ("/dev/null", EACCES), ("/", EACCES), ("plain", EACCES),
        ] as [(String, Int32?)])
    func obstacle(program: String, code: Int32?) {
        let folder = TemporaryFolder()
        folder.write("plain", "")
        let folders = "/nowhere:/bin:\(folder.path)"
        #expect(SpawnedProcess.obstacle(to: program, folders: folders)?.errno == code)
    }

    @Test("kills a silent child")
    func silent() { #expect(run("exec sleep 1000", patience: .milliseconds(50)) == .silent) }
}
