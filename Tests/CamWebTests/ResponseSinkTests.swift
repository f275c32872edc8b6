import NIOCore
import Synchronization
import TestSupport
import Testing
import CamPlatform

@testable import CamWeb

@Suite("responses from other threads")
struct ResponseSinkTests {
    /// As large as what is sent at a time; eight may wait.
    private let chunk = ByteBuffer(bytes: [UInt8](repeating: 0, count: 64 << 10))

    @Test("the maker waits until the browser has taken what came before")
    func waits() {
        let counts = Counts()
        let sink = ResponseSink { part in
            if case .body = part { counts.delivered.add(1, ordering: .relaxed) }
        }
        let maker = WorkerThread { [chunk] in
            for _ in 0..<9 where sink.send(chunk) { counts.sent.add(1, ordering: .relaxed) }
        }
        #expect(eventually { counts.sent.load(ordering: .relaxed) == 8 })
        #expect(counts.delivered.load(ordering: .relaxed) == 8)
        sink.noteSent(chunk.readableBytes)
        maker?.join()
        #expect(counts.sent.load(ordering: .relaxed) == 9)
    }

    @Test("a browser that leaves ends the work")
    func leaves() {
        let sink = ResponseSink { _ in }
        let counts = Counts()
        let maker = WorkerThread { [chunk] in
            while sink.send(chunk) { counts.sent.add(1, ordering: .relaxed) }
        }
        #expect(eventually { counts.sent.load(ordering: .relaxed) == 8 })
        sink.close()
        maker?.join()
        #expect(sink.isGone)
        #expect(!sink.send(chunk))
    }

    private final class Counts: Sendable {
        let delivered = Atomic<Int>(0)
        let sent = Atomic<Int>(0)
    }
}
