import NIOCore
import NIOEmbedded
import Testing

@testable import CamWeb

@Suite("sessions")
struct SessionListTests {
    private let start = NIODeadline.uptimeNanoseconds(0)
    private var sessions = SessionList()

    @Test("a token is 256 bits, and no two are the same")
    func tokens() throws {
        let tokens = (0..<100).map { _ in SessionToken() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.text.utf8.count == 64 && SessionToken($0.text) == $0 })
        for text in ["", "abc", String(repeating: "A", count: 64), String(repeating: "g", count: 64)] {
            #expect(SessionToken(text) == nil)
        }
    }

    @Test("a session is its user's, until it ends")
    mutating func use() {
        let token = sessions.begin("maria", at: start)
        #expect(sessions.use(token, at: start) == "maria")
        #expect(sessions.use(SessionToken(), at: start) == nil)
        sessions.end(token)
        #expect(sessions.use(token, at: start) == nil)
    }

    @Test("one that is not used ends, and one that is used ends later")
    mutating func idle() {
        let (idle, used) = (sessions.begin("a", at: start), sessions.begin("b", at: start))
        #expect(sessions.use(used, at: start + .hours(11)) == "b")
        #expect(sessions.use(idle, at: start + SessionList.longestPause) == nil)
        #expect(sessions.use(used, at: start + .hours(22)) == "b")
        var now = start + .hours(22)
        while now < start + SessionList.longest {
            #expect(sessions.use(used, at: now) == "b")
            now = now + .hours(6)
        }
        #expect(sessions.use(used, at: start + SessionList.longest) == nil)
    }

    @Test("their number is bounded: the one that was idle for longest makes room")
    mutating func bounded() {
        let first = sessions.begin("first", at: start)
        let second = sessions.begin("second", at: start + .seconds(1))
        _ = sessions.use(first, at: start + .seconds(2))
        for _ in 2..<SessionList.mostSessions { _ = sessions.begin("other", at: start + .seconds(3)) }
        _ = sessions.begin("last", at: start + .seconds(4))
        #expect(sessions.use(second, at: start + .seconds(5)) == nil)
        #expect(sessions.use(first, at: start + .seconds(5)) == "first")
    }

    @Test("what a session watches ends with it, and nothing else")
    mutating func streams() throws {
        let channels = (0..<3).map { _ in EmbeddedChannel() }
        for channel in channels { try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait() }
        let (mine, other) = (sessions.begin("a", at: start), sessions.begin("b", at: start))
        #expect(sessions.attach(channels[0], to: mine) == start + SessionList.longest)
        _ = sessions.attach(channels[1], to: mine)
        _ = sessions.attach(channels[2], to: other)
        sessions.detach(channels[1], from: mine)
        sessions.end(mine)
        #expect(channels.map(\.isActive) == [false, true, true])
        #expect(sessions.attach(channels[1], to: mine) == nil)
    }
}
