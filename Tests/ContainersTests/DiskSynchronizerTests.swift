import Glibc
import TestSupport
import Testing
import CamPlatform
@testable import Containers

/// Files are flushed to the disk while they grow, and a failing disk is reported.
@Suite(.hangGuard) struct DiskSynchronizerTests {
    private let folder = TemporaryFolder()

    /// A descriptor on which every `fdatasync` fails, with EBADF (open(2), O_PATH).
    private func unsynchronizable() -> Int32 {
        folder.write("a", [1])
        return open(folder.path("a"), 0o10000000)
    }

    @Test("synchronizes a file until it ends, and once more then")
    func synchronizes() throws {
        let synchronizer = try #require(DiskSynchronizer(bound: .milliseconds(2)))
        let descriptor = unsynchronizable()
        var file = synchronizer.begin(descriptor, path: folder.path("a"))
        // It has its own descriptor.
        close(descriptor)
        var error: OutputError?
        _ = eventually {
            error = file?.takeFailure()
            return error != nil
        }
        #expect(error?.kind == .writeFailed(errno: EBADF))
        file?.end()
        weak let forgotten = file
        file = nil
        try #require(eventually { forgotten == nil })
        // Its writer did not check any more.
        #expect(synchronizer.takeFailure()?.output == folder.path("a"))
    }

    @Test("the last data is on the disk when the synchronizer finishes, for any interval")
    func last() throws {
        let synchronizer = try #require(DiskSynchronizer(bound: .seconds(3600)))
        let descriptor = unsynchronizable()
        let file = try #require(synchronizer.begin(descriptor, path: folder.path("a")))
        close(descriptor)
        file.end()
        #expect(synchronizer.takeFailure() == nil)
        synchronizer.finish()
        #expect(synchronizer.takeFailure()?.kind == .writeFailed(errno: EBADF))
        #expect(synchronizer.takeFailure() == nil)
    }
}
