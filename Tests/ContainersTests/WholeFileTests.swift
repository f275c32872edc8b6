import CamPlatform
import Glibc
import TestSupport
import Testing

/// Small files that are read at once.
@Suite struct WholeFileTests {
    private let folder = TemporaryFolder()

    @Test(
        "reads a file of any length up to the limit, and refuses longer ones", arguments: [0, 1, 4095, 4096])
    func limit(length: Int) throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        folder.write("a", bytes)
        #expect(try WholeFile.read(folder.path("a"), atMost: 4096) == bytes)
        guard length > 0 else { return }
        #expect(throws: WholeFile.Failure.tooLong) {
            try WholeFile.read(folder.path("a"), atMost: length - 1)
        }
    }

    @Test("reads files whose length the system does not tell")
    func unknownLength() throws {
        let bytes = try WholeFile.read("/proc/self/status", atMost: 1 << 20)
        #expect(bytes.count > 500 && String(decoding: bytes, as: UTF8.self).hasPrefix("Name:"))
        #expect(throws: WholeFile.Failure.tooLong) { try WholeFile.read("/proc/self/status", atMost: 100) }
    }

    @Test("refuses what is no regular file, without waiting for it")
    func others() throws {
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for path in [folder.path("pipe"), folder.path(""), "/dev/zero"] {
            #expect(throws: WholeFile.Failure.notRegular) { try WholeFile.read(path, atMost: 10) }
        }
        #expect(throws: WholeFile.Failure.system(errno: ENOENT)) {
            try WholeFile.read(folder.path("none"), atMost: 10)
        }
    }
}
