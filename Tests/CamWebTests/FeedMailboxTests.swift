import CamPlatform
import NIOCore
import Testing

@testable import CamWeb

@Suite("from a camera's thread to the server's")
struct FeedMailboxTests {
    private func picture(_ count: Int, isKeyframe: Bool = false) -> FeedEvent {
        .picture(
            LivePicture(
                form: .messages, bytes: ByteBuffer(repeating: 0, count: count), isKeyframe: isKeyframe))
    }

    private func sizes(_ events: [FeedEvent]) -> [Int] {
        events.compactMap {
            if case .picture(let picture) = $0 { picture.bytes.readableBytes } else { nil }
        }
    }

    @Test("only the first event wakes")
    func wakes() {
        let mailbox = FeedMailbox()
        #expect(mailbox.post(.status(.waiting)))
        #expect(!mailbox.post(picture(1, isKeyframe: true)))
        #expect(mailbox.take().events.count == 2)
        #expect(mailbox.post(.status(.live)))
    }

    @Test("is bounded, and leaves pictures out up to a keyframe")
    func bounded() {
        let mailbox = FeedMailbox(byteLimit: 100)
        _ = mailbox.post(picture(60, isKeyframe: true))
        _ = mailbox.post(picture(39))
        _ = mailbox.post(picture(2))
        _ = mailbox.post(picture(1))
        #expect(sizes(mailbox.take().events) == [60, 39])
        // There is room again, but the pictures before are missing.
        #expect(!mailbox.post(picture(3)))
        #expect(mailbox.post(picture(4, isKeyframe: true)))
        #expect(sizes(mailbox.take().events) == [4])
    }

    private func facts(bFrames: Int) throws -> StreamFacts {
        let stream = try EncodedStream(frames: 6, keyframeInterval: 3, bFrames: bFrames)
        let pictures = LivePictures(codec: .h264)
        var facts: StreamFacts?
        let first = stream.packets[0]
        pictures.add(first.span.bytes, arrival: .start) { _ in }
        pictures.pause { facts = StreamFacts($0) }
        return try #require(facts)
    }

    @Test("only the latest status waits")
    func statuses() {
        let mailbox = FeedMailbox()
        _ = mailbox.post(picture(1, isKeyframe: true))
        for _ in 0..<10_000 {
            _ = mailbox.post(.status(.waiting))
            _ = mailbox.post(.status(.unavailable("gone")))
        }
        let events = mailbox.take().events
        #expect(events.count == 2)
        guard case .status(.unavailable)? = events.last else {
            Issue.record("the latest status is lost")
            return
        }
    }

    @Test(
        "only the latest format waits, without the pictures of earlier ones; what is in the old format stays")
    func formats() throws {
        let mailbox = FeedMailbox()
        let facts = try facts(bFrames: 0)
        _ = mailbox.post(picture(1, isKeyframe: true))
        for size in 2...10_000 {
            _ = mailbox.post(.facts(facts))
            _ = mailbox.post(picture(size, isKeyframe: true))
        }
        let (events, hasMore) = mailbox.take()
        #expect(!hasMore && events.count == 3)
        #expect(sizes(events) == [1, 10_000])
        // The bytes of what was replaced are free again.
        #expect(mailbox.post(picture(FeedMailbox.defaultByteLimit, isKeyframe: true)))
    }

    @Test("a form that is impossible is said once")
    func impossible() {
        let mailbox = FeedMailbox()
        for _ in 0..<10_000 {
            _ = mailbox.post(.impossible(.mp4, reason: "B frames"))
            _ = mailbox.post(.impossible(.transportStream, reason: "B frames"))
        }
        #expect(mailbox.take().events.count == 2)
    }

    @Test("the number of pictures is bounded, too, and so is what one turn passes on")
    func counts() {
        let mailbox = FeedMailbox(countLimit: 40)
        for _ in 0..<10_000 { _ = mailbox.post(picture(1, isKeyframe: true)) }
        var counts: [Int] = []
        var hasMore = true
        while hasMore {
            let turn = mailbox.take()
            counts.append(turn.events.count)
            hasMore = turn.hasMore
        }
        #expect(counts == [16, 16, 8])
        for _ in 0..<4 { _ = mailbox.post(picture(700_000, isKeyframe: true)) }
        #expect(sizes(mailbox.take().events) == [700_000, 700_000])
    }

    @Test("a change of the format is admitted eight times at once, then once a second")
    func changes() {
        var allowance = FormatAllowance()
        let start = Instant.start + .seconds(100)
        func admitted(_ allowance: inout FormatAllowance, at now: Instant) -> Int {
            (0..<1000).count { _ in allowance.admitsChange(at: now) }
        }
        #expect(admitted(&allowance, at: start) == 8)
        #expect(admitted(&allowance, at: start + .milliseconds(999)) == 0)
        #expect(admitted(&allowance, at: start + .seconds(1)) == 1)
        #expect(admitted(&allowance, at: start + .seconds(60)) == 8)
    }
}
