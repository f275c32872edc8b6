import CamNetworking
import CamPlatform
import NIOCore
import NIOHTTP1
import NIOPosix

/// Decides who may use the server. Keeps the sessions, and checks one password at a time on a separate
/// thread. Used on the event loop.
final class Authenticator: Sendable {
    private let rules: AccessRules
    private let placement: Placement
    /// Called with each failed login.
    private let warn: @Sendable (String) -> Void
    private let checks: NIOThreadPool
    private let state: NIOLoopBoundBox<State>

    /// Belongs to the event loop.
    private struct State {
        /// The users who may log in, as the password file names them now; nil if everyone who can connect may watch.
        var users: PasswordFile?
        var sessions = SessionList()
        var attempts = AttemptLimit()
        /// The sessions of players, by the header that they send with each request.
        var players: [String: SessionToken] = [:]
        /// Passwords being checked or waiting for a check.
        var checkCount = 0
    }

    /// What a request may do.
    enum Access: Hashable {
        /// No password is asked for.
        case open(Rights)
        case session(SessionToken, user: String, Rights)
        case none

        var rights: Rights {
            switch self {
            case .open(let rights), .session(_, _, let rights): rights
            case .none: .nothing
            }
        }
    }

    /// The most players and monitoring systems with a session; more than use a server at a time.
    private static let mostPlayers = 32
    /// The most passwords waiting for a check; each takes less than a second.
    private static let mostChecks = 8
    private static let cookieName = "camweb"
    /// Browsers accept a cookie with this prefix only over TLS, and return it only to this host (RFC 6265bis,
    /// 4.1.3.2). Such a cookie is for all paths: under a base, where other programs may have other paths, the cookie has
    /// the other prefix.
    private static let (hostCookieName, pathCookieName) = ("__Host-camweb", "__Secure-camweb")

    init(
        _ rules: AccessRules, at placement: Placement, on eventLoop: any EventLoop,
        warn: @escaping @Sendable (String) -> Void
    ) {
        (self.rules, self.placement, self.warn) = (rules, placement, warn)
        checks = NIOThreadPool(numberOfThreads: 1)
        state = .makeBoxSendingValue(State(users: rules.passwords), eventLoop: eventLoop)
        if rules.passwords != nil { checks.start() }
    }

    /// Follows the password file until the cancellation.
    /// - Returns: false if the system lacks threads.
    func followFile(until cancellation: CancellationFlag) -> Bool {
        guard let users = rules.passwords, let path = rules.passwordPath else { return true }
        let loop = state.eventLoop
        return PasswordWatch(path, users).start(until: cancellation) { [self] reading in
            loop.execute { self.take(reading) }
        }
    }

    /// Takes what the password file says now. Sessions of users who are gone or have another password end; the streams
    /// of users who have another role begin again. Call it on the event loop.
    func take(_ reading: PasswordWatch.Reading) {
        switch reading {
        case .failure(let problem): warn("\(problem); until then camweb keeps the users it knows")
        case .success(let users):
            let before = state.value.users
            state.value.users = users
            state.value.sessions.end { users[$0]?.hash != before?[$0]?.hash }
            state.value.sessions.closeStreams { users[$0]?.role != before?[$0]?.role }
        }
    }

    /// Ends the thread. Call it off the event loop.
    func stop() { try? checks.syncShutdownGracefully() }

    /// Returns the access that the session of a request gives, with the rights that its user has now.
    func access(of head: HTTPRequestHead) -> Access {
        guard let users = state.value.users else {
            // By default, other users of the machine may not change anything.
            return .open(Rights(mayChange: rules.allowsChanges, seesDetails: true))
        }
        guard let token = token(in: head), let user = state.value.sessions.use(token, at: .now()),
            let entry = users[user]
        else { return .none }
        return .session(token, user: user, Rights(entry.role))
    }

    /// Checks the user and password that a player sends with each request, unless the player has a session.
    /// - Returns: nil if there is nothing to check; otherwise a future of the refusal, or of nil if the
    ///   player now has a session.
    func check(_ head: HTTPRequestHead, from client: ClientAddress) -> EventLoopFuture<Refusal?>? {
        guard rules.passwords != nil, access(of: head) == .none, let header = Self.player(of: head),
            let credentials = BasicCredentials(header)
        else { return nil }
        return verify(credentials.user, credentials.password, from: client).assumeIsolated().map {
            [self] problem in
            if let problem { return Refusal(problem) }
            if state.value.players.count >= Self.mostPlayers { state.value.players.removeAll() }
            state.value.players[header] = state.value.sessions.begin(credentials.user, at: .now())
            return nil
        }.nonisolated()
    }

    /// The header in which a player sends user and password; nil if there is none.
    private static func player(of head: HTTPRequestHead) -> String? {
        let headers = head.headers["authorization"]
        return headers.count == 1 ? headers.first : nil
    }

    /// Checks a password on the thread for passwords, unless a limit is reached. Each refusal is logged: somebody who tries
    /// passwords faster than they are checked must be seen, too.
    /// - Returns: nil if the password is right; otherwise why the login is refused.
    private func verify(
        _ user: String, _ password: String, from client: ClientAddress
    ) -> EventLoopFuture<LoginProblem?> {
        func refuse(_ problem: LoginProblem) -> EventLoopFuture<LoginProblem?> {
            warn(FailedLogin.line(user: user, client: client))
            return state.eventLoop.makeSucceededFuture(problem)
        }
        guard let users = state.value.users else { return state.eventLoop.makeSucceededFuture(.wrong) }
        // No user has such a password, so that trying it is no attempt.
        guard PasswordHash.complaint(about: password) == nil else { return refuse(.wrong) }
        guard state.value.checkCount < Self.mostChecks else { return refuse(.busy) }
        guard state.value.attempts.admit(client, at: .now()) else { return refuse(.tooMany) }
        state.value.checkCount += 1
        return checks.runIfActive(eventLoop: state.eventLoop) { users.admits(user, password) }
            .assumeIsolated().map { [self] isAdmitted in
                state.value.checkCount -= 1
                // The file may have changed during the check.
                let isRight = isAdmitted && state.value.users?[user]?.hash == users[user]?.hash
                if isRight {
                    state.value.attempts.noteSuccess(client)
                } else {
                    warn(FailedLogin.line(user: user, client: client))
                }
                return isRight ? nil : .wrong
            }.nonisolated()
    }

    /// Closes a stream when its session ends.
    func attach(_ channel: any Channel, of head: HTTPRequestHead) {
        guard rules.passwords != nil else { return }
        guard let token = token(in: head), let end = state.value.sessions.attach(channel, to: token) else {
            return channel.close(promise: nil)
        }
        let deadline = channel.eventLoop.scheduleTask(deadline: end) { channel.close(promise: nil) }
        channel.closeFuture.assumeIsolated().whenComplete { [state] _ in
            deadline.cancel()
            state.value.sessions.detach(channel, from: token)
        }
    }

    /// The client that sent a request, behind the reverse proxy if there is one.
    func client(of head: HTTPRequestHead, on channel: any Channel) -> ClientAddress {
        let forwarded =
            rules.isBehindProxy ? ForwardedFor.client(in: head.headers["x-forwarded-for"]) : nil
        return ClientAddress(forwarded ?? channel.remoteAddress?.ipAddress ?? "")
    }

    /// The client whose connections are limited; nil for this machine, on which whole households may come through one
    /// tunnel, and for a reverse proxy that does not name its client.
    func limitedClient(of head: HTTPRequestHead, on channel: any Channel) -> ClientAddress? {
        let isNamed = !rules.isBehindProxy || ForwardedFor.client(in: head.headers["x-forwarded-for"]) != nil
        let client = client(of: head, on: channel)
        return isNamed && !client.isLoopback ? client : nil
    }

    /// Answers the login page's form.
    func logIn(
        _ form: FormBody?, _ head: HTTPRequestHead, from client: ClientAddress, authority: String
    ) -> EventLoopFuture<Response> {
        guard let user = form?["user"], let password = form?["password"] else {
            return state.eventLoop.makeSucceededFuture(
                LoginPage.response(.wrong, at: placement, authority: authority))
        }
        return verify(user, password, from: client).assumeIsolated().map { [self] problem in
            if let problem { return LoginPage.response(problem, at: placement, authority: authority) }
            return welcome(user, head, authority: authority)
        }.nonisolated()
    }

    /// Ends a request's session.
    func logOut(_ head: HTTPRequestHead, authority: String) -> Response {
        if let token = token(in: head) { state.value.sessions.end(token) }
        return Self.redirect(
            to: placement.base.login, authority: authority, cookie: cookie("", maxAge: 0, head))
    }

    /// Redirects a browser to another path, which it loads with GET.
    static func redirect(to path: String, authority: String, cookie: String? = nil) -> Response {
        var extra = ["Location": path]
        extra["Set-Cookie"] = cookie
        return Response(
            .seeOther, type: "text/plain; charset=utf-8", body: [], authority: authority, extra: extra)
    }

    private func welcome(_ user: String, _ head: HTTPRequestHead, authority: String) -> Response {
        // A new login replaces the session that the browser had.
        if let token = token(in: head) { state.value.sessions.end(token) }
        let token = state.value.sessions.begin(user, at: .now())
        let age = SessionList.longest.nanoseconds / 1_000_000_000
        return Self.redirect(
            to: placement.base.page, authority: authority, cookie: cookie(token.text, maxAge: age, head))
    }

    private func cookie(_ value: String, maxAge: Int64, _ head: HTTPRequestHead) -> String {
        "\(cookieName(for: head))=\(value); Path=\(placement.base.page); Max-Age=\(maxAge); HttpOnly; SameSite=Strict"
            + (isSecure(head) ? "; Secure" : "")
    }

    private func token(in head: HTTPRequestHead) -> SessionToken? {
        // The header comes first: a player may also send an expired cookie.
        Self.player(of: head).flatMap { state.value.players[$0] }
            ?? CookieHeader.value(of: cookieName(for: head), in: head.headers["cookie"])
            .flatMap(SessionToken.init)
    }

    private func cookieName(for head: HTTPRequestHead) -> String {
        guard isSecure(head) else { return Self.cookieName }
        return placement.base == .root ? Self.hostCookieName : Self.pathCookieName
    }

    /// Whether the browser reached the proxy with TLS.
    private func isSecure(_ head: HTTPRequestHead) -> Bool {
        rules.isBehindProxy && head.headers["x-forwarded-proto"] == ["https"]
    }
}

// MARK: Failed logins

/// The line about a failed login, which `examples/camweb.fail2ban` finds. The address comes first, because the user is
/// text that the client chose.
enum FailedLogin {
    private static let longestUser = 64

    static func line(user: String, client: ClientAddress) -> String {
        "login failed: from \(client.number ?? "an unknown address"), user \"\(escaped(user))\""
    }

    /// Only ASCII characters that end neither the line nor the quotes remain.
    private static func escaped(_ user: String) -> String {
        let scalars = user.unicodeScalars
        return scalars.prefix(longestUser).map { scalar in
            let isPlain = (0x20..<0x7F).contains(scalar.value) && scalar != "\"" && scalar != "\\"
            return isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }.joined() + (scalars.count > longestUser ? "..." : "")
    }
}

// MARK: Rules

/// Who may use a server.
package struct AccessRules: Sendable {
    /// The users who may log in, at the start; nil if everyone who can connect may watch.
    package var passwords: PasswordFile?
    /// The file of these users, which is read again when it changes; nil if the users stay the same.
    package var passwordPath: String?
    /// Whether all requests come through a reverse proxy, whose headers then name the client and say whether
    /// it uses TLS.
    package var isBehindProxy = false
    /// Whether clients without a password may also send commands.
    package var allowsChanges = false

    package init() {}
}
