import Glibc
import Testing
import CamPlatform

@testable import CamPictures

/// A buffer that devices share, and that threads own and hide.
@Suite struct SharedBufferTests {
    private func buffer(length: Int) throws -> SharedBuffer {
        var path = Array("/tmp/camrec-test-buffer-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        unlink(path)
        try #require(descriptor >= 0 && ftruncate(descriptor, length) == 0)
        return try #require(SharedBuffer(DMABuffer(adopting: descriptor, length: length), length: length))
    }

    @Test("its last owner gives it back, although another thread hides it meanwhile")
    func hidden() throws {
        let (buffer, isOver) = (try self.buffer(length: 4096), try #require(CancellationFlag()))
        let hides = WorkerThread { while !isOver.isRaised { buffer.hideIfFree() } }
        var lost = 0
        for _ in 0..<20_000 {
            buffer.addOwner()
            // Only a mapped buffer takes long to hide.
            buffer.show()
            if !buffer.removeOwner(staysShown: true) { lost += 1 }
        }
        isOver.raise()
        hides?.join()
        #expect(lost == 0)
    }
}
