import CamNetworking
import NIOCore
import NIOHTTP1
import NIOPosix

/// Decides who may use the server. Keeps the sessions, and checks one password at a time on a separate
/// thread. Used on the event loop.
final class AccessDesk: Sendable {
    private let rules: AccessRules
    private let report: @Sendable (String) -> Void
    private let checks: NIOThreadPool
    private let state: NIOLoopBoundBox<State>

    /// Belongs to the event loop.
    private struct State {
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
        case open
        case session(SessionToken, user: String)
        case none
    }

    /// Whether clients that may watch may also send commands. By default, other users of the machine may not.
    var allowsChanges: Bool { rules.passwords != nil || rules.allowsChanges }

    /// The most players and monitoring systems with a session; more than use a server at a time.
    private static let mostPlayers = 32
    /// The most passwords waiting for a check; each takes less than a second.
    private static let mostChecks = 8
    private static let cookieName = "camweb"
    /// Browsers accept a cookie with this prefix only over TLS, and return it only to this host (RFC 6265bis,
    /// 4.1.3.2).
    private static let secureCookieName = "__Host-camweb"

    init(_ rules: AccessRules, on eventLoop: any EventLoop, report: @escaping @Sendable (String) -> Void) {
        (self.rules, self.report) = (rules, report)
        checks = NIOThreadPool(numberOfThreads: 1)
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
        if rules.passwords != nil { checks.start() }
    }

    /// Ends the thread. Call it off the event loop.
    func stop() { try? checks.syncShutdownGracefully() }

    /// Returns the access that the session of a request gives.
    func access(of head: HTTPRequestHead) -> Access {
        guard rules.passwords != nil else { return .open }
        guard let token = token(in: head), let user = state.value.sessions.use(token, at: .now()) else {
            return .none
        }
        return .session(token, user: user)
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

    /// Checks a password on the thread for passwords, unless a limit is reached.
    /// - Returns: nil if the password is right; otherwise why the login is refused.
    private func verify(
        _ user: String, _ password: String, from client: ClientAddress
    ) -> EventLoopFuture<LoginProblem?> {
        func refuse(_ problem: LoginProblem) -> EventLoopFuture<LoginProblem?> {
            state.eventLoop.makeSucceededFuture(problem)
        }
        guard let passwords = rules.passwords, PasswordHash.complaint(about: password) == nil else {
            return refuse(.wrong)
        }
        guard state.value.checkCount < Self.mostChecks else { return refuse(.busy) }
        guard state.value.attempts.admit(client, at: .now()) else { return refuse(.tooMany) }
        state.value.checkCount += 1
        return checks.runIfActive(eventLoop: state.eventLoop) { passwords.admits(user, password) }
            .assumeIsolated().map { [self] isRight in
                state.value.checkCount -= 1
                if isRight {
                    state.value.attempts.noteSuccess(client)
                } else {
                    report("login: wrong user or password")
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

    /// Answers the login page's form.
    func logIn(
        _ form: FormBody?, _ head: HTTPRequestHead, from client: ClientAddress, authority: String
    ) -> EventLoopFuture<Response> {
        guard let user = form?["user"], let password = form?["password"] else {
            return state.eventLoop.makeSucceededFuture(LoginPage.response(.wrong, authority: authority))
        }
        return verify(user, password, from: client).assumeIsolated().map { [self] problem in
            if let problem { return LoginPage.response(problem, authority: authority) }
            return welcome(user, head, authority: authority)
        }.nonisolated()
    }

    /// Ends a request's session.
    func logOut(_ head: HTTPRequestHead, authority: String) -> Response {
        if let token = token(in: head) { state.value.sessions.end(token) }
        return Self.redirect(to: "/login", authority: authority, cookie: cookie("", maxAge: 0, head))
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
        return Self.redirect(to: "/", authority: authority, cookie: cookie(token.text, maxAge: age, head))
    }

    private func cookie(_ value: String, maxAge: Int64, _ head: HTTPRequestHead) -> String {
        "\(cookieName(for: head))=\(value); Path=/; Max-Age=\(maxAge); HttpOnly; SameSite=Strict"
            + (isSecure(head) ? "; Secure" : "")
    }

    private func token(in head: HTTPRequestHead) -> SessionToken? {
        // The header comes first: a player may also send an expired cookie.
        Self.player(of: head).flatMap { state.value.players[$0] }
            ?? CookieHeader.value(of: cookieName(for: head), in: head.headers["cookie"])
            .flatMap(SessionToken.init)
    }

    private func cookieName(for head: HTTPRequestHead) -> String {
        isSecure(head) ? Self.secureCookieName : Self.cookieName
    }

    /// Whether the browser reached the proxy with TLS.
    private func isSecure(_ head: HTTPRequestHead) -> Bool {
        rules.isBehindProxy && head.headers["x-forwarded-proto"] == ["https"]
    }
}

// MARK: Rules

/// Who may use a server.
public struct AccessRules: Sendable {
    /// The users who may log in; nil if everyone who can connect may watch.
    public var passwords: PasswordFile?
    /// Whether all requests come through a reverse proxy, whose headers then name the client and say whether
    /// it uses TLS.
    public var isBehindProxy = false
    /// Whether clients without a password may also send commands.
    public var allowsChanges = false

    public init() {}
}
