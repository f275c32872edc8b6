import Bitstream
import CamPictures
import CamPlatform
import TestSupport
import Testing

@testable import Encoder

@Suite("a compression session for tasks", .hangGuard)
struct AsyncCompressionSessionTests {
    private let film = try! Film()

    private func session(
        limit: Int = 16, _ configure: (inout CompressionProperties) -> Void = { _ in }
    ) throws -> AsyncCompressionSession {
        var properties = CompressionProperties()
        properties.keyframeInterval = .frames(100)
        configure(&properties)
        var request = EncoderRequest()
        request.preference = .software
        return try AsyncCompressionSession(
            CompressionSession(for: film.format, [properties], encoders: request), limit: limit)
    }

    private func encode(_ numbers: Range<Int>, with session: AsyncCompressionSession) async throws {
        for number in numbers {
            try await session.encode(SharedPixelBuffer(film.frame(number)), forcingKeyframe: number % 7 == 5)
        }
    }

    @Test("another task gets each access unit, with the keyframes that were asked for")
    func everything() async throws {
        let session = try session(limit: 1)
        let taken = Task {
            var units: [AccessUnit] = []
            for try await unit in session.accessUnits { units.append(unit) }
            return units
        }
        try await encode(0..<20, with: session)
        try await session.finish()
        let units = try await taken.value
        #expect(units.map(\.frameNumber) == Array(0..<20))
        #expect(units.indices.filter { units[$0].isIDR } == [0, 5, 12, 19])
    }

    @Test("encoding waits for the task that takes access units, and can be cancelled meanwhile")
    func waits() async throws {
        let session = try session(limit: 3)
        try await encode(0..<3, with: session)
        let waiting = Task { try await encode(3..<4, with: session) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        var iterator = session.accessUnits.makeAsyncIterator()
        #expect(try await iterator.next()?.frameNumber == 0)
        try await encode(3..<4, with: session)
        #expect(try await iterator.next()?.frameNumber == 1)
    }

    @Test("what an encoder holds back comes with the end")
    func heldBack() async throws {
        let session = try session(limit: 2) { $0.latency = .quality }
        try await encode(0..<2, with: session)
        try await session.finish()
        var count = 0
        for try await _ in session.accessUnits { count += 1 }
        #expect(count == 2)
    }

    @Test("the sequence ends with its session")
    func abandoned() async throws {
        var session: AsyncCompressionSession? = try session()
        let units = try #require(session).accessUnits
        session = nil
        for try await _ in units { Issue.record("nothing was encoded") }
    }
}
