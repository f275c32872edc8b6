import Bitstream
import Glibc
import Testing
import TestSupport
import CamPlatform
@testable import Containers

/// Where access units end up, and what is left when they cannot.
@Suite struct FileSinkTests {
    private let folder = TemporaryFolder()

    private func cancellation(patience: Duration = .zero) throws -> CancellationFlag {
        try #require(CancellationFlag(patience: patience))
    }

    private func sink(_ name: String, overwrite: Bool = false) throws -> FileSink {
        try FileSink(path: folder.path(name), overwrite: overwrite, cancellation: cancellation())
    }

    private func failure(_ body: () throws -> Void) -> OutputError? {
        do {
            try body()
            return nil
        } catch {
            return error as? OutputError
        }
    }

    // MARK: Files

    @Test("writes access units one after another, byte for byte")
    func writes() throws {
        let sink = try sink("out.h264")
        let units = (0..<10).map { accessUnit(length: 1 + $0 * 1000) }
        for unit in units { try sink.write(unit) }
        try sink.finish()
        #expect(folder.content("out.h264") == units.flatMap(\.allBytes))
        #expect(sink.bytesWritten == units.map(\.count).reduce(0, +))
    }

    @Test("a new file is not writable by everyone")
    func mode() throws {
        let sink = try sink("out.h264")
        try sink.write(accessUnit())
        #expect(folder.status("out.h264").st_mode & 0o022 == 0)
    }

    @Test("refuses an existing file, and leaves it unchanged")
    func refuses() throws {
        folder.write("out.h264", [1, 2, 3])
        let failure = failure { _ = try sink("out.h264") }
        #expect(failure?.kind == .exists)
        #expect(failure?.isCreation == true)
        #expect(folder.content("out.h264") == [1, 2, 3])
    }

    @Test("overwriting keeps the old content until the first access unit")
    func overwrites() throws {
        folder.write("out.h264", Array(repeating: 9, count: 10_000))
        do {
            let sink = try sink("out.h264", overwrite: true)
            #expect(folder.content("out.h264")?.count == 10_000)
            let unit = accessUnit()
            try sink.write(unit)
            #expect(folder.content("out.h264") == unit.allBytes)
        }
        #expect(folder.content("out.h264")?.count == accessUnit().count)
    }

    @Test("overwriting leaves the old content if no access unit comes")
    func overwritesNothing() throws {
        folder.write("out.h264", [1, 2, 3])
        do { try sink("out.h264", overwrite: true).finish() }
        #expect(folder.content("out.h264") == [1, 2, 3])
    }

    @Test("removes a new file without any access unit")
    func removes() throws {
        do {
            let sink = try sink("out.h264")
            #expect(folder.content("out.h264") == [])
            try sink.finish()
        }
        #expect(folder.content("out.h264") == nil)
    }

    @Test("leaves a file that has replaced the new one", arguments: [true, false])
    func replaced(isFinished: Bool) throws {
        do {
            let sink = try sink("out.h264")
            unlink(folder.path("out.h264"))
            folder.write("out.h264", [1, 2, 3])
            if isFinished { try sink.finish() }
        }
        #expect(folder.content("out.h264") == [1, 2, 3])
    }

    @Test("does not touch a file that is being written, until its writer is done")
    func inUse() throws {
        do {
            let sink = try sink("out.h264")
            #expect(failure { _ = try self.sink("out.h264", overwrite: true) }?.kind == .inUse)
            try sink.write(accessUnit())
        }
        #expect(folder.content("out.h264") == accessUnit().allBytes)
        #expect(failure { _ = try self.sink("out.h264", overwrite: true) } == nil)
    }

    @Test("a reader cannot lock a file against writing")
    func lockOfReader() throws {
        folder.write("out.h264", [1, 2, 3])
        let reader = open(folder.path("out.h264"), O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        #expect(flock(reader, LOCK_EX | LOCK_NB) == 0)
        #expect(failure { _ = try self.sink("out.h264", overwrite: true) } == nil)
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_RDLCK), Int16(SEEK_SET))
        #expect(fcntl(reader, F_SETLK, &lock) == 0)
        #expect(failure { _ = try self.sink("out.h264", overwrite: true) } == nil)
    }

    @Test("reports a removed file with the next access unit or at the end")
    func removedMeanwhile() throws {
        let (written, ended) = (try sink("written.h264"), try sink("ended.h264"))
        for sink in [written, ended] { try sink.write(accessUnit()) }
        unlink(folder.path("written.h264"))
        unlink(folder.path("ended.h264"))
        #expect(failure { try written.write(accessUnit()) }?.kind == .removed)
        #expect(failure { try ended.finish() }?.kind == .removed)
    }

    @Test("reports a missing folder, or one given as a file, with the cause")
    func notCreated() throws {
        #expect(failure { _ = try sink("none/out.h264") }?.kind == .notCreated(errno: ENOENT))
        #expect(failure { _ = try sink("", overwrite: true) }?.kind == .notCreated(errno: EISDIR))
        let dangling = folder.path("dangling")
        symlink(folder.path("none/target"), dangling)
        #expect(failure { _ = try sink("dangling") }?.kind == .notCreated(errno: ENOENT))
    }

    // MARK: Full disks

    @Test("on a full disk, the file ends with the last whole access unit, and plays")
    func fullDisk() throws {
        let small = try SmallFileSystem(bytes: 1 << 20)
        let path = small.path + "/out.h264"
        let sink = try FileSink(path: path, overwrite: false, cancellation: cancellation())
        let unit = accessUnit(length: 300_000)
        var written = 0
        let failure = failure {
            while written < 100 {
                try sink.write(unit)
                written += 1
            }
        }
        #expect(failure?.kind == .diskFull)
        #expect(failure?.isCreation == false)
        #expect(written == 3)
        #expect(sink.bytesWritten == 3 * unit.count)
        #expect(contentOfFile(path)?.count == 3 * unit.count)
    }

    @Test("a file at its size limit ends with the last whole access unit")
    func sizeLimit() async {
        // The limit applies to a whole process, so it runs in its own.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 250_000, rlim_max: 250_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let folder = TemporaryFolder()
            let sink = try FileSink(
                path: folder.path("out.h264"), overwrite: false, cancellation: #require(CancellationFlag()))
            let unit = accessUnit(length: 100_000)
            try sink.write(unit)
            try sink.write(unit)
            #expect(throws: OutputError(.tooLarge, output: folder.path("out.h264"))) {
                try sink.write(unit)
            }
            #expect(folder.content("out.h264")?.count == 2 * unit.count)
        }
    }

    @Test("removes a new file whose first access unit does not fit")
    func nothingFits() throws {
        let small = try SmallFileSystem(bytes: 1 << 16)
        let path = small.path + "/out.h264"
        do {
            let sink = try FileSink(path: path, overwrite: false, cancellation: cancellation())
            #expect(failure { try sink.write(accessUnit(length: 1 << 20)) }?.kind == .diskFull)
        }
        #expect(contentOfFile(path) == nil)
    }

    // MARK: Pipes and devices

    @Test("refuses a named pipe without a reader, and does not wait for one")
    func noReader() throws {
        mkfifo(folder.path("pipe"), 0o600)
        let failure = failure { _ = try sink("pipe") }
        #expect(failure?.kind == .noReader)
        #expect(failure?.isCreation == true)
    }

    @Test("a named pipe takes access units, and stays when the recording ends")
    func namedPipe() throws {
        mkfifo(folder.path("pipe"), 0o600)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let unit = accessUnit(length: 20_000)
        do {
            let sink = try sink("pipe")
            try sink.write(unit)
            try sink.finish()
        }
        #expect(readAll(reader, count: unit.count) == unit.allBytes)
        #expect(folder.status("pipe").st_mode & S_IFMT == S_IFIFO)
    }

    @Test("a reader that closes its pipe ends the output")
    func closedPipe() throws {
        signal(SIGPIPE, SIG_IGN)
        mkfifo(folder.path("pipe"), 0o600)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        let sink = try sink("pipe")
        try sink.write(accessUnit())
        close(reader)
        #expect(failure { try sink.write(accessUnit()) }?.kind == .closedPipe)
    }

    @Test("a cancellation ends the wait for a reader that reads nothing")
    func stalledPipe() throws {
        mkfifo(folder.path("pipe"), 0o600)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let cancellation = try cancellation(patience: .seconds(5))
        let sink = try FileSink(path: folder.path("pipe"), overwrite: false, cancellation: cancellation)
        // Raised before the pipe is full: the wait sees it when it comes to wait.
        let unit = accessUnit(length: 1 << 20)
        let raiser = BackgroundThread { cancellation.raise() }
        #expect(failure { try sink.write(unit) }?.kind == .stalled(for: .seconds(5)))
        raiser.join()
        #expect(sink.bytesWritten == 0)
    }

    @Test("a reader that reads gets the data, interrupted or not")
    func interruptedPipe() throws {
        mkfifo(folder.path("pipe"), 0o600)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let cancellation = try cancellation()
        let sink = try FileSink(path: folder.path("pipe"), overwrite: false, cancellation: cancellation)
        cancellation.raise()
        let unit = accessUnit(length: 20_000)
        try sink.write(unit)
        let isWhole = readAll(reader, count: .max) == unit.allBytes
        #expect(isWhole)
    }

    @Test("a device takes access units without --overwrite, and stays")
    func device() throws {
        let sink = try FileSink(path: "/dev/null", overwrite: false, cancellation: cancellation())
        try sink.write(accessUnit())
        try sink.finish()
        #expect(access("/dev/null", F_OK) == 0)
    }

    @Test("reports a full device")
    func fullDevice() throws {
        let sink = try FileSink(path: "/dev/full", overwrite: false, cancellation: cancellation())
        #expect(failure { try sink.write(accessUnit()) }?.kind == .diskFull)
    }

    @Test("finishing twice closes once")
    func finishesTwice() throws {
        let sink = try sink("out.h264")
        try sink.write(accessUnit())
        try sink.finish()
        try sink.finish()
    }
}

@Suite struct InterruptionTests {
    @Test("is raised once, permanently")
    func raised() throws {
        let cancellation = try #require(CancellationFlag())
        #expect(!cancellation.isRaised)
        for _ in 0..<100_000 { cancellation.raise() }
        #expect(cancellation.isRaised)
        #expect(cancellation.isRaised)
    }
}

@Suite struct OutputErrorTests {
    @Test(
        "every message is one line that names the output",
        arguments: [
            .exists, .inUse, .removed, .notCreated(errno: EACCES), .noReader, .diskFull, .closedPipe,
            .stalled(for: .seconds(5)),
            .writeFailed(errno: EIO),
        ] as [OutputError.Kind])
    func messages(kind: OutputError.Kind) {
        let message = OutputError(kind, output: "/tmp/out.h264").description
        #expect(message.contains("/tmp/out.h264"))
        #expect(!message.contains("\n"))
        #expect(message.contains(";"))
    }

    @Test(
        "the next step fits the cause",
        arguments: [
            EROFS: "remount", EMFILE: "ulimit -n", EACCES: "permissions", EIO: "check the disk",
            ENOTCONN: "mount it again",
        ])
    func remedies(code: Int32, remedy: String) {
        for kind in [OutputError.Kind.writeFailed(errno: code), .notContinued(errno: code)] {
            let message = OutputError(kind, output: "out.h264").description
            #expect(message.contains(remedy))
            #expect(message.contains("check the disk") == (code == EIO))
        }
    }
}
