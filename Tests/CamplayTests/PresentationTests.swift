import CFFmpeg
import Synchronization
import TestSupport
import Testing
import CamPlatform

@testable import Decoder
@testable import camplay

/// How pictures reach the thread that shows them.
@Suite(.hangGuard) struct PresentationTests {
    private let cancellation: CancellationFlag
    private let presentation: Presentation

    init() throws {
        cancellation = try #require(CancellationFlag())
        presentation = try Presentation(cancellation: cancellation)
    }

    /// Passes on a picture that consists of its number only.
    private func show(_ number: Int64, at due: Duration? = nil) throws {
        let frame = try #require(av_frame_alloc())
        frame.pointee.pts = number
        presentation.show(DecodedPicture(taking: frame), at: due, StreamTotals())
    }

    private func take() -> Int? {
        let picture = presentation.take()
        return picture?.number
    }

    @Test("the latest live picture wins, and earlier ones count as late")
    func latest() throws {
        for number in 1...3 { try show(Int64(number)) }
        #expect(take() == 3)
        #expect(take() == nil)
        #expect(presentation.statistics.shownCount == 1)
        #expect(presentation.statistics.lateCount == 2)
    }

    @Test(
        "notifies the display once of a waiting picture, however often it is replaced, and of the end"
    )
    func news() throws {
        let count = Mutex(0)
        presentation.whenChanged { count.withLock { $0 += 1 } }
        for number in 1...3 { try show(Int64(number)) }
        #expect(count.withLock { $0 } == 1)
        _ = take()
        try show(4)
        #expect(count.withLock { $0 } == 2)
        presentation.finish()
        #expect(count.withLock { $0 } == 3)
        #expect(presentation.hasEnded)
    }

    @Test("the picture stays during a pause, and live ones pass uncounted")
    func pause() throws {
        presentation.togglePause()
        try show(1)
        #expect(take() == nil)
        presentation.togglePause()
        try show(2)
        #expect(take() == 2)
        #expect(presentation.statistics.lateCount == 0)
    }

    @Test("a file's picture is not delivered before it is due")
    func time() throws {
        let start = Instant.now
        try show(1, at: .zero)
        try show(2, at: .milliseconds(50))
        #expect(.now - start >= .milliseconds(50))
        #expect(take() == 2)
    }

    @Test("closing the window ends every wait, and hides the waiting picture")
    func end() throws {
        try show(1, at: .zero)
        _ = take()
        presentation.end()
        try show(2, at: .seconds(3_000_000_000))
        presentation.hold(until: .seconds(3_000_000_000))
        #expect(take() == nil)
    }

    @Test("a live picture is not seen before its moment, and not at all after a pause")
    func moment() throws {
        let frame = try #require(av_frame_alloc())
        let moment = Instant.now + .seconds(3_000_000_000)
        presentation.show(DecodedPicture(taking: frame), at: nil, notBefore: moment, StreamTotals())
        #expect(take() == nil)
        #expect(presentation.nextMoment == moment)
        presentation.togglePause()
        #expect(presentation.nextMoment == nil)
        #expect(presentation.statistics.pausedCount == 1)
    }

    @Test(
        "pictures that wait at the end are still shown, unless the viewer has quit", arguments: [false, true])
    func waitingAtEnd(quits: Bool) throws {
        for quitsFirst in [true, false] {
            let presentation = try Presentation(cancellation: try #require(CancellationFlag()))
            let frame = try #require(av_frame_alloc())
            let moment = Instant.now + .seconds(3_000_000_000)
            presentation.show(DecodedPicture(taking: frame), at: nil, notBefore: moment, StreamTotals())
            if quits, quitsFirst { presentation.end() }
            presentation.finish()
            if quits, !quitsFirst { presentation.end() }
            #expect((presentation.nextMoment == nil) == quits)
        }
    }

    @Test("a jump ends the wait for a picture, hides it, and is taken once")
    func jump() throws {
        let presentation = try Presentation(cancellation: cancellation, isSeekable: true)
        func show(_ number: Int64, at due: Duration) throws {
            let frame = try #require(av_frame_alloc())
            frame.pointee.pts = number
            presentation.show(
                DecodedPicture(taking: frame), at: due, StreamTotals())
        }
        try show(1, at: .zero)
        _ = presentation.take()
        presentation.seek(by: .seconds(10))
        presentation.seek(by: .seconds(-3))
        try show(2, at: .seconds(3_000_000_000))
        let dropped = presentation.take()
        #expect(dropped?.number == nil)
        #expect(presentation.takeJump() == .seconds(7))
        #expect(presentation.takeJump() == nil)
        // Wherever in the file it is, the next picture is due at once.
        presentation.restart()
        try show(3, at: .seconds(3_000_000_000))
        let picture = presentation.take()
        #expect(picture?.number == 3)
    }

    @Test("a jump during a pause shows one picture")
    func jumpInPause() throws {
        let presentation = try Presentation(cancellation: cancellation, isSeekable: true)
        func show(_ number: Int64) throws -> Int? {
            let frame = try #require(av_frame_alloc())
            frame.pointee.pts = number
            presentation.show(
                DecodedPicture(taking: frame), at: nil, StreamTotals())
            let picture = presentation.take()
            return picture?.number
        }
        presentation.togglePause()
        #expect(try show(1) == nil)
        presentation.restart()
        #expect(try show(2) == 2)
        #expect(try show(3) == nil)
    }

    @Test("does not seek in a live stream")
    func noJump() {
        presentation.seek(by: .seconds(10))
        #expect(presentation.takeJump() == nil)
    }

    @Test("the first picture is shown while the loudspeaker opens, and the second waits for it")
    func hold() throws {
        presentation.holdTime(patience: .seconds(1_000_000))
        try show(1, at: .zero)
        #expect(take() == 1)
        #expect(presentation.moment(of: .zero) == nil)
        let beginning = Instant.now
        let thread = WorkerThread { [presentation] in presentation.beginTime(after: .zero) }
        try show(2, at: .nanoseconds(1))
        thread?.join()
        #expect(take() == 2)
        #expect(try #require(presentation.moment(of: .zero)) >= beginning)
    }

    @Test("a loudspeaker that does not open holds nothing up for longer than patience")
    func patience() throws {
        presentation.holdTime(patience: .nanoseconds(1))
        try show(1, at: .zero)
        try show(2, at: .nanoseconds(1))
        #expect(take() == 2)
        #expect(presentation.moment(of: .zero) != nil)
    }
}
