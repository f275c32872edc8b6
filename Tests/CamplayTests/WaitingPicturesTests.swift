import CFFmpeg
import Testing
import CamPlatform

@testable import Decoder
@testable import camplay

/// Pictures that wait for their moments.
@Suite struct WaitingPicturesTests {
    private let now = Instant.start + .seconds(10)

    /// Adds a picture that consists of its number only.
    private func add(
        _ number: Int64, after delay: Duration, to waiting: inout WaitingPictures, now: Instant? = nil
    ) throws -> Int {
        let frame = try #require(av_frame_alloc())
        frame.pointee.pts = number
        var picture: DecodedPicture? = DecodedPicture(taking: frame)
        return waiting.append(&picture, at: self.now + delay, now: now ?? self.now)
    }

    /// Takes what is due after a time: its number, and how many before it were dropped.
    private func take(
        after delay: Duration, from waiting: inout WaitingPictures
    ) -> (number: Int?, dropped: Int) {
        var picture: DecodedPicture?
        let dropped = waiting.take(into: &picture, now: now + delay)
        return (picture?.number, dropped)
    }

    @Test("each is taken at its moment, not before")
    func moments() throws {
        var waiting = WaitingPictures()
        #expect(waiting.next == nil)
        #expect(try add(1, after: .milliseconds(10), to: &waiting) == 0)
        #expect(try add(2, after: .milliseconds(20), to: &waiting) == 0)
        #expect(waiting.next == now + .milliseconds(10))
        #expect(take(after: .milliseconds(9), from: &waiting) == (nil, 0))
        #expect(take(after: .milliseconds(10), from: &waiting) == (1, 0))
        #expect(take(after: .milliseconds(25), from: &waiting) == (2, 0))
        #expect(waiting.next == nil)
    }

    @Test("of several that are due, the latest is taken")
    func latest() throws {
        var waiting = WaitingPictures()
        for number in 1...4 { _ = try add(Int64(number), after: .milliseconds(10 * number), to: &waiting) }
        #expect(take(after: .milliseconds(30), from: &waiting) == (3, 2))
        #expect(take(after: .milliseconds(40), from: &waiting) == (4, 0))
    }

    @Test("one that is due at once takes the place of those that are due")
    func due() throws {
        var waiting = WaitingPictures()
        #expect(try add(1, after: .zero, to: &waiting) == 0)
        #expect(try add(2, after: .zero, to: &waiting) == 1)
        #expect(waiting.count == 1)
        #expect(take(after: .zero, from: &waiting) == (2, 0))
    }

    @Test("none overtakes another")
    func order() throws {
        var waiting = WaitingPictures()
        _ = try add(1, after: .milliseconds(50), to: &waiting)
        #expect(try add(2, after: .zero, to: &waiting) == 0)
        #expect(take(after: .milliseconds(49), from: &waiting) == (nil, 0))
        #expect(take(after: .milliseconds(50), from: &waiting) == (2, 1))
    }

    @Test("when many wait, the oldest is due at once")
    func many() throws {
        var waiting = WaitingPictures()
        for number in 1...12 {
            #expect(try add(Int64(number), after: .milliseconds(10 * number), to: &waiting) == 0)
        }
        #expect(waiting.next == now + .milliseconds(10))
        #expect(try add(13, after: .milliseconds(130), to: &waiting) == 0)
        #expect(take(after: .zero, from: &waiting) == (1, 0))
        #expect(take(after: .milliseconds(19), from: &waiting) == (nil, 0))
        #expect(take(after: .milliseconds(20), from: &waiting) == (2, 0))
    }

    @Test("when nobody takes them, the oldest are dropped")
    func limit() throws {
        var waiting = WaitingPictures()
        var dropped = 0
        for number in 1...20 {
            dropped += try add(Int64(number), after: .milliseconds(10 * number), to: &waiting)
        }
        #expect(dropped == 4)
        #expect(waiting.count == 16)
        for number in 5...20 {
            let (taken, skipped) = take(after: .milliseconds(10 * number), from: &waiting)
            #expect(taken == number)
            #expect(skipped == 0)
        }
    }

    @Test("those that are due later can be dropped, and so can all")
    func removal() throws {
        var waiting = WaitingPictures()
        _ = try add(1, after: .milliseconds(10), to: &waiting)
        _ = try add(2, after: .milliseconds(20), to: &waiting)
        #expect(waiting.removeAll(after: now + .milliseconds(10)) == 1)
        #expect(waiting.count == 1)
        #expect(waiting.removeAll() == 1)
        #expect(take(after: .seconds(1), from: &waiting) == (nil, 0))
    }
}
