import CamPlatform
import Glibc
import TestSupport
import Testing

@testable import CamRecorder
import CamStorage

/// Programs for finished files, with real ones.
@Suite(.hangGuard) struct SegmentProgramTests {
    private let folder = TemporaryFolder()
    private let events = Events()

    private final class Events: @unchecked Sendable {
        // Safe to share: accessed with the lock held.
        private let monitor = Monitor()
        private var list: [ProgramEvent] = []

        var all: [ProgramEvent] { monitor.withLock { list } }

        func add(_ event: ProgramEvent) { monitor.withLock { list.append(event) } }
    }

    /// Writes a script, and makes it a program unless told otherwise.
    private func script(_ text: String, first: String = "#!/bin/sh\n", mode: mode_t = 0o700) -> String {
        folder.write("program", first + text)
        chmod(folder.path("program"), mode)
        return folder.path("program")
    }

    private func program(
        _ path: String, environment: [String] = ["PATH=/usr/bin:/bin"], isDurable: Bool = false
    ) throws -> ProgramQueue<FinishedFile> {
        let events = events
        let program = ProgramQueue<FinishedFile>(
            ProgramLaunch(path, environment: environment, isDurable: isDurable)
        ) {
            events.add($0)
        }
        return try #require(program)
    }

    private func file(_ name: String, exists: Bool = true) -> FinishedFile {
        if exists { folder.write(name, [1]) }
        return FinishedFile(
            path: folder.path(name), start: WallTime(seconds: 1_000_000_000),
            end: WallTime(seconds: 1_000_000_060) + .milliseconds(500), frames: 1800)
    }

    private func leftOut(_ count: Int, _ program: ProgramQueue<FinishedFile>) -> ProgramEvent {
        ProgramEvent(program: program.path, subject: .file, kind: .leftOut(count))
    }

    private func finish(_ program: ProgramQueue<FinishedFile>) {
        program.close()
        _ = WaitResult.wait(for: program.ended.descriptor, unless: nil)
    }

    /// Up to 64 KiB of a file; nil if there is none.
    private func content(_ name: String) -> [UInt8]? {
        let descriptor = open(folder.path(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    private func lines(_ name: String) -> [String] {
        String(decoding: content(name) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("gets the file, its times and its frames, as arguments and in the environment")
    func parameters() throws {
        let script = script(
            #"printf '%s\n' "$#" "$@" "$CAMREC_PATH" "$CAMREC_START" "$CAMREC_END" "$CAMREC_FRAMES" "$KEPT" > "${0%/*}/said""#
        )
        let program = try program(script, environment: ["PATH=/usr/bin:/bin", "KEPT=kept"])
        let name = "a b';$(x).mkv"
        program.start(for: file(name))
        finish(program)
        let values = [
            folder.path(name), "2001-09-09T01:46:40.000000Z", "2001-09-09T01:47:40.500000Z", "1800",
        ]
        #expect(lines("said") == ["4"] + values + values + ["kept"])
        #expect(events.all == [])
        #expect(program.counts.started == 1 && program.counts.failed == 0 && program.counts.leftOut == 0)
    }

    @Test("times that are unknown are empty")
    func unknownTimes() throws {
        let program = try program(script(#"printf '<%s>\n' "$2" "$CAMREC_END" > "${0%/*}/said""#))
        folder.write("a", [1])
        program.start(for: FinishedFile(path: folder.path("a"), start: nil, end: nil, frames: 1))
        finish(program)
        #expect(lines("said") == ["<>", "<>"])
    }

    @Test("inherits no descriptor, no blocked and no ignored signal, and reads nothing")
    func inheritance() throws {
        let leaked = open("/dev/zero", O_RDONLY)
        defer { close(leaked) }
        signal(SIGXFSZ, SIG_IGN)
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, SIGUSR1)
        let program = try program(
            script(
                """
                cd "${0%/*}"; cat > read; exec 8>said 9>signals; exec 9>&- 8>&-
                for fd in /proc/$$/fd/*; do case ${fd##*/} in [012]) ;; *) readlink "$fd" ;; esac; done \
                    | grep -v -e "$0" -e pipe: > said
                grep -E '^Sig(Blk|Ign):' /proc/self/status > signals
                ps -o pgid= -o pid= -p $$ > group

                """))
        // The thread that waits for the program is started by the one that hands the file over.
        pthread_sigmask(SIG_BLOCK, &mask, nil)
        program.start(for: file("a"))
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        finish(program)
        #expect(content("read") == [])
        #expect(lines("said") == [])
        // 32 and 33 are the C library's own.
        let own: UInt64 = 0x1_8000_0000
        let signals = lines("signals").map {
            $0.split { $0.isWhitespace }.last.flatMap { UInt64($0, radix: 16) }
        }
        #expect(signals.map { $0.map { $0 & ~own } } == [0, 0])
        // Ctrl-C on the terminal goes to another group.
        let group = lines("group").first?.split { $0.isWhitespace } ?? []
        #expect(group.count == 2 && group[0] == group[1])
    }

    @Test("at most two run at a time, and every file has its turn, in order")
    func two() throws {
        mkfifo(folder.path("gate"), 0o600)
        let program = try program(
            script(#"cd "${0%/*}"; echo "+ ${1##*/}" >> log; read line < gate; echo "- ${1##*/}" >> log"#))
        for number in 0..<6 { program.start(for: file("\(number)")) }
        try #require(eventually { lines("log").count == 2 })
        // Each line lets one end; opened for reading as well, the gate stays open.
        let gate = open(folder.path("gate"), O_RDWR | O_CLOEXEC)
        defer { close(gate) }
        for ended in 1...6 {
            _ = Glibc.write(gate, "x\n", 2)
            try #require(eventually { lines("log").count { $0.hasPrefix("-") } == ended })
        }
        finish(program)
        var (running, most) = (0, 0)
        for line in lines("log") {
            running += line.hasPrefix("+") ? 1 : -1
            most = max(most, running)
        }
        #expect(most == 2)
        #expect(Set(lines("log").filter { $0.hasPrefix("+") }).count == 6)
        #expect(program.counts.started == 6 && events.all == [])
    }

    @Test("a program that hangs holds nothing up: others wait, the oldest are left out, and camrec says so")
    func hanging() throws {
        mkfifo(folder.path("gate"), 0o600)
        let program = try program(script(#"cd "${0%/*}"; echo x >> log; read line < gate"#))
        let waiting = ProgramQueue<FinishedFile>.longestQueue
        program.start(for: file("0"))
        program.start(for: file("1"))
        // A program may write before its start is counted.
        try #require(eventually { lines("log").count == 2 && program.counts.started == 2 })
        for number in 2..<waiting + 5 { program.start(for: file("\(number)", exists: false)) }
        #expect(program.counts.leftOut == 3)
        #expect(events.all == [leftOut(1, program)])
        program.giveUp()
        #expect(program.counts.leftOut == waiting + 3)
        #expect(program.counts.started == 2 && program.counts.failed == 0)
        #expect(
            Set(events.all.dropFirst().map(\.description)) == [
                "\(program.path): still running for \(folder.path("0")); camrec no longer waits for it",
                "\(program.path): still running for \(folder.path("1")); camrec no longer waits for it",
                "\(program.path): not started for \(waiting + 2) files, because earlier ones take too long; the files are there",
            ])
        // It was left to itself, and ends when it can.
        let gate = open(folder.path("gate"), O_RDWR | O_CLOEXEC)
        defer { close(gate) }
        _ = Glibc.write(gate, "x\nx\n", 4)
        _ = WaitResult.wait(for: program.ended.descriptor, unless: nil)
        #expect(lines("log").count == 2)
    }

    @Test("ends though the system allows no thread for its last files, and leaves these out")
    func noThreads() throws {
        let events = events
        let made = ProgramQueue<FinishedFile>(
            ProgramLaunch(script("exit 0"), environment: []), report: { events.add($0) },
            startThread: { _ in false })
        let program = try #require(made)
        program.start(for: file("0"))
        program.start(for: file("1"))
        #expect(!program.ended.isRaised)
        program.close()
        #expect(program.ended.isRaised)
        #expect(program.counts == ProgramCounts(started: 0, failed: 0, leftOut: 2))
        #expect(events.all == [leftOut(2, program)])
    }

    @Test("a failure is one line with its cause and the next step")
    func failures() throws {
        func failure(_ path: String, _ name: String = "a", exists: Bool = true) throws -> String? {
            let program = try program(path)
            let known = events.all.count
            program.start(for: file(name, exists: exists))
            finish(program)
            return events.all.dropFirst(known).first?.description
        }
        let name = folder.path("a")
        #expect(
            try failure(script("exit 3"))
                == "\(folder.path("program")): exit code 3 for \(name); to see why, run it with that file")
        #expect(
            try failure(script("kill -SEGV $$"))
                == "\(folder.path("program")): signal 11, Segmentation fault for \(name); to see why, run it with that file"
        )
        let remedy = "check that it is there, executable, and begins with #! if it is a script"
        #expect(
            try failure("/nowhere/upload")
                == "/nowhere/upload: not started (No such file or directory) for \(name); \(remedy)")
        #expect(
            try failure(script("exit 0", mode: 0o600))
                == "\(folder.path("program")): not started (Permission denied) for \(name); \(remedy)")
        #expect(
            try failure(script("exit 0", first: ""))
                == "\(folder.path("program")): not started (Exec format error) for \(name); \(remedy)")
        #expect(
            try failure(script("exit 0"), "gone", exists: false)
                == "\(folder.path("program")): not started for \(folder.path("gone")); the file was removed before its turn"
        )
    }

    @Test("repeated failures are reported less and less often, and all are counted")
    func repeated() throws {
        let program = try program(script("exit 1"))
        for number in 0..<20 { program.start(for: file("\(number)")) }
        finish(program)
        #expect(program.counts.started == 20 && program.counts.failed == 20)
        #expect(events.all.count == 1)
    }

    @Test("a name without a slash is found in the folders of PATH")
    func search() throws {
        let program = try program("true")
        program.start(for: file("a"))
        finish(program)
        #expect(program.counts.started == 1 && events.all == [])
    }

    @Test("a file that must survive a power cut is on the disk before its program starts")
    func durable() throws {
        let program = try program(script("exit 0"), isDurable: true)
        program.start(for: file("a"))
        program.start(for: file("gone", exists: false))
        finish(program)
        #expect(program.counts.started == 1 && program.counts.leftOut == 1)
    }
}
