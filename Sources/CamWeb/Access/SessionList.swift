import NIOCore

/// The sessions of logged-in users. Their number is bounded. A session ends when unused for hours, and some
/// days after its login in any case.
struct SessionList {
    private struct Session {
        let user: String
        let end: NIODeadline
        var idleEnd: NIODeadline
        /// The streams that the session watches; they end with it.
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private var sessions: [SessionToken: Session] = [:]

    /// The most sessions at a time; one more ends the session that was unused the longest.
    static let mostSessions = 256
    /// The longest time from login to the end of a session.
    static let longest = TimeAmount.hours(7 * 24)
    /// The longest time between two requests of a session.
    static let longestPause = TimeAmount.hours(12)

    /// Begins a session.
    mutating func begin(_ user: String, at now: NIODeadline) -> SessionToken {
        for (token, session) in sessions where now >= min(session.end, session.idleEnd) { end(token) }
        if sessions.count >= Self.mostSessions,
            let oldest = sessions.min(by: { $0.value.idleEnd < $1.value.idleEnd })
        {
            end(oldest.key)
        }
        let token = SessionToken()
        sessions[token] = Session(user: user, end: now + Self.longest, idleEnd: now + Self.longestPause)
        return token
    }

    /// Returns the user of a session and records its use; nil if the session has ended.
    mutating func use(_ token: SessionToken, at now: NIODeadline) -> String? {
        guard let session = sessions[token] else { return nil }
        guard now < min(session.end, session.idleEnd) else {
            end(token)
            return nil
        }
        sessions[token]?.idleEnd = now + Self.longestPause
        return session.user
    }

    /// Closes a channel when its session ends. Call it on the channel's event loop.
    /// - Returns: the latest end of the session; nil if there is no such session.
    mutating func attach(_ channel: any Channel, to token: SessionToken) -> NIODeadline? {
        sessions[token]?.channels[ObjectIdentifier(channel)] = channel
        return sessions[token]?.end
    }

    /// Forgets a channel that was closed.
    mutating func detach(_ channel: any Channel, from token: SessionToken) {
        sessions[token]?.channels[ObjectIdentifier(channel)] = nil
    }

    /// Ends the sessions of some users.
    mutating func end(where isEnded: (_ user: String) -> Bool) {
        for (token, session) in sessions where isEnded(session.user) { end(token) }
    }

    /// Closes the streams of some users, whose sessions go on.
    func closeStreams(where isClosed: (_ user: String) -> Bool) {
        for session in sessions.values where isClosed(session.user) {
            for channel in session.channels.values { channel.close(promise: nil) }
        }
    }

    /// Ends a session and closes the streams that it watches.
    mutating func end(_ token: SessionToken) {
        for channel in sessions.removeValue(forKey: token)?.channels.values ?? [:].values {
            channel.close(promise: nil)
        }
    }
}

// MARK: Tokens

/// The secret with which a browser proves its login: 256 random bits.
struct SessionToken: Hashable, Sendable {
    /// 64 hexadecimal digits.
    let text: String

    private static let length = 64

    /// Makes a token that cannot be guessed.
    init() {
        // The system's generator, getrandom(2).
        var generator = SystemRandomNumberGenerator()
        text = (0..<4).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Reads a token; nil if the text has another form.
    init?(_ text: String) {
        guard text.utf8.count == Self.length,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.text = text
    }
}
