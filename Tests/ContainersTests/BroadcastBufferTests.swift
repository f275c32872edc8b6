import Bitstream
import Testing
import CamPlatform
@testable import CamDelivery

/// What a live output buffers of its stream.
@Suite struct BroadcastBufferTests {
    private func filled(_ buffer: BroadcastBuffer, _ count: Int, length: Int = 996, every time: Duration)
        -> BroadcastBuffer
    {
        for number in 0..<count {
            buffer.append(accessUnit(length: length, frameNumber: number), at: .start + time * number)
        }
        return buffer
    }

    @Test("numbers units from 0, and keeps them until they are released")
    func numbers() {
        let buffer = filled(BroadcastBuffer(limit: .time(.seconds(10))), 5, every: .nanoseconds(1))
        #expect(buffer.window.range == 0..<5)
        #expect((0..<5).map { buffer[$0]?.unit?.frameNumber } == [0, 1, 2, 3, 4])
        #expect(buffer[5]?.arrival == nil)
        buffer.trim(before: 3)
        #expect(buffer.window.range == 3..<5)
        #expect(buffer[2]?.arrival == nil)
        #expect(buffer[3]?.arrival == .start + .nanoseconds(3))
        buffer.trim(before: 99)
        #expect(buffer.window.range == 5..<5)
    }

    @Test("drops units older than its time")
    func time() {
        let buffer = filled(BroadcastBuffer(limit: .time(.seconds(2))), 10, every: .seconds(1))
        #expect(buffer.window.range == 7..<10)
    }

    @Test("drops units beyond its bytes, except a single one")
    func bytes() {
        #expect(filled(BroadcastBuffer(limit: .bytes(3500)), 10, every: .zero).window.range == 7..<10)
        #expect(filled(BroadcastBuffer(limit: .bytes(10)), 10, every: .zero).window.range == 9..<10)
    }

    @Test("drops units beyond its room")
    func capacity() {
        let buffer = filled(
            BroadcastBuffer(limit: .time(.seconds(10)), capacity: 4), 11, every: .nanoseconds(1))
        #expect(buffer.window.range == 7..<11)
        #expect(buffer[10]?.unit?.frameNumber == 10)
    }

    @Test("accepts nothing after its end")
    func end() {
        let buffer = filled(BroadcastBuffer(limit: .time(.seconds(10))), 2, every: .nanoseconds(1))
        buffer.finish()
        buffer.append(accessUnit(), at: .start + .nanoseconds(3))
        #expect(buffer.window == BroadcastBuffer.Window(range: 0..<2, pictureCount: 2, isFinished: true))
    }
}
