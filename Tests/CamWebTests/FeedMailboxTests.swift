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
        #expect(mailbox.takeAll().count == 2)
        #expect(mailbox.post(.status(.live)))
    }

    @Test("is bounded, and leaves pictures out up to a keyframe")
    func bounded() {
        let mailbox = FeedMailbox(byteLimit: 100)
        _ = mailbox.post(picture(60, isKeyframe: true))
        _ = mailbox.post(picture(39))
        _ = mailbox.post(picture(2))
        _ = mailbox.post(picture(1))
        #expect(sizes(mailbox.takeAll()) == [60, 39])
        // There is room again, but the pictures before are missing.
        #expect(!mailbox.post(picture(3)))
        #expect(mailbox.post(picture(4, isKeyframe: true)))
        #expect(sizes(mailbox.takeAll()) == [4])
    }
}
