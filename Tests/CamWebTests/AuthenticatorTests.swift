import CamNetworking
import CamPlatform
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@testable import CamWeb

@Suite("who may do what, now", .hangGuard)
struct AuthenticatorTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()
    private let warnings = Warnings()

    /// What the operator was told.
    private actor Warnings {
        private(set) var lines: [String] = []

        func add(_ line: String) { lines.append(line) }
    }

    private static let password = "correct horse"
    private static let (details, nothing) = (Rights(mayChange: true, seesDetails: true), Rights.nothing)

    private func users(_ roles: [String: Role?]) throws -> PasswordFile {
        var users = PasswordFile()
        for (user, role) in roles {
            users.set(try #require(PasswordHash(of: Self.password)), for: user, role: role)
        }
        return users
    }

    private func authenticator(_ users: PasswordFile) -> Authenticator {
        var rules = AccessRules()
        rules.passwords = users
        return Authenticator(rules, at: Placement(), on: loop) { line in
            Task { [warnings] in await warnings.add(line) }
        }
    }

    /// Logs in; returns a request of the session.
    private func logIn(_ user: String, to access: Authenticator) async throws -> HTTPRequestHead {
        let form = FormBody("user=\(user)&password=\(Self.password.replacing(" ", with: "+"))".utf8)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/login")
        let cookies = try await loop.flatSubmit {
            access.logIn(form, head, from: ClientAddress("127.0.0.1"), authority: "localhost")
                .map { $0.headers["set-cookie"] }
        }.get()
        let cookie = try #require(cookies.first?.split(separator: ";").first)
        var request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        request.headers.add(name: "Cookie", value: String(cookie))
        return request
    }

    private func rights(_ request: HTTPRequestHead, _ access: Authenticator) async throws -> Rights? {
        try await loop.submit {
            let found = access.access(of: request)
            return found == .none ? nil : found.rights
        }.get()
    }

    private func take(_ reading: PasswordWatch.Reading, _ access: Authenticator) async throws {
        try await loop.submit { access.take(reading) }.get()
    }

    @Test("a viewer watches; an administrator, and a user without a role, may do everything")
    func roles() async throws {
        let access = authenticator(try users(["v": .viewer, "a": .admin, "n": nil]))
        defer { access.stop() }
        for (user, expected) in [("v", Self.nothing), ("a", Self.details), ("n", Self.details)] {
            #expect(try await rights(logIn(user, to: access), access) == expected, "\(user)")
        }
    }

    @Test("a role that changes counts for sessions, too; those of users who are gone end")
    func changes() async throws {
        let before = try users(["v": .viewer, "gone": .admin])
        let access = authenticator(before)
        defer { access.stop() }
        let (viewer, gone) = (try await logIn("v", to: access), try await logIn("gone", to: access))
        var after = PasswordFile()
        after.set(try #require(before["v"]).hash, for: "v", role: .admin)
        try await take(.success(after), access)
        #expect(try await rights(viewer, access) == Self.details)
        #expect(try await rights(gone, access) == nil)
        // One who comes back has to log in.
        try await take(.success(before), access)
        #expect(try await rights(viewer, access) == Self.nothing)
        #expect(try await rights(gone, access) == nil)
    }

    @Test("every failed login is logged: with a password that none can be, and when there were too many")
    func failures() async throws {
        let access = authenticator(try users(["a": .admin]))
        defer { access.stop() }
        // The first two cannot be passwords, and are no attempts.
        let passwords = Array(repeating: "short", count: 2) + Array(repeating: "wrong-password", count: 7)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/login")
        var statuses: [HTTPResponseStatus] = []
        for password in passwords {
            let form = FormBody("user=a&password=\(password)".utf8)
            statuses.append(
                try await loop.flatSubmit {
                    access.logIn(form, head, from: ClientAddress("192.0.2.7"), authority: "localhost")
                        .map(\.status)
                }.get())
        }
        #expect(statuses == Array(repeating: .forbidden, count: 7) + [.tooManyRequests, .tooManyRequests])
        while await warnings.lines.count < 9 { await Task.yield() }
        let line = #"login failed: from 192.0.2.7, user "a""#
        #expect(await warnings.lines == Array(repeating: line, count: 9))
    }

    @Test("another password ends the sessions of its user")
    func otherPassword() async throws {
        let access = authenticator(try users(["a": .admin]))
        defer { access.stop() }
        let request = try await logIn("a", to: access)
        try await take(.success(try users(["a": .admin])), access)
        #expect(try await rights(request, access) == nil)
    }

    @Test("a file that cannot be used changes nothing, and is a warning")
    func unusable() async throws {
        let access = authenticator(try users(["a": .admin]))
        defer { access.stop() }
        let request = try await logIn("a", to: access)
        try await take(.failure(.unknownRole(path: "users", line: 3)), access)
        #expect(try await rights(request, access) == Self.details)
        while await warnings.lines.isEmpty { await Task.yield() }
        #expect(
            await warnings.lines.first?.hasPrefix("users:3: the role is neither viewer nor admin;") == true)
    }
}

@Suite("what rights cover")
struct RightsTests {
    private let viewer = Rights(.viewer)
    private let administrator = Rights(.admin)
    /// Everyone on this machine, where no password is asked for.
    private let watcher = Rights(mayChange: false, seesDetails: true)

    private func refusal(_ path: String, _ rights: Rights) -> Refusal? {
        do throws(Refusal) {
            try rights.permit(Route(path))
            return nil
        } catch { return error }
    }

    @Test(
        "watching and downloading is everybody's",
        arguments: [
            "/", "/recorder.js", "/cameras.json", "/live/door", "/live/door.ts", "/cameras/door/snapshot.jpg",
            "/recordings/door.json?from=0&to=1", "/recordings/door.mp4?from=0&to=1", "/recordings/door/1",
            "/login",
            "/logout", "/nothing",
        ])
    func watching(path: String) {
        for rights in [viewer, administrator, watcher] { #expect(refusal(path, rights) == nil) }
    }

    @Test(
        "figures, controls and findings are not a viewer's",
        arguments: [
            "/cameras/door/stats.json", "/cameras/door/controls.json", "/cameras/door/doctor.json",
            "/metrics",
        ])
    func details(path: String) {
        #expect(refusal(path, viewer) == .onlyWatches)
        for rights in [administrator, watcher] { #expect(refusal(path, rights) == nil) }
    }

    @Test("commands are an administrator's; each refusal says what helps")
    func commands() {
        let path = "/cameras/door/command"
        #expect(refusal(path, administrator) == nil)
        #expect(refusal(path, viewer) == .onlyWatches)
        #expect(refusal(path, watcher) == .noChanges)
    }

    @Test("of recordings that cannot be shown, a viewer gets neither names nor causes, but the file")
    func problems() {
        let problem = RecordingProblem(name: "2026/door.mkv", reason: "Input/output error", id: "5")
        let listing = RecordingCatalog.Listing(problems: [problem])
        func list(_ rights: Rights) -> String {
            JSON.text(
                of: SegmentList(
                    listing, areEvents: false, seesDetails: rights.seesDetails, now: WallTime(seconds: 1)))
        }
        #expect(
            list(administrator).contains("2026/door.mkv")
                && list(administrator).contains("Input/output error"))
        #expect(!list(viewer).contains("door.mkv") && !list(viewer).contains("Input/output"))
        #expect(list(viewer).contains(#""id":"5""#))
    }

    @Test("a refusal with a path or an address has words for viewers")
    func words() {
        for refusal in [
            Refusal.unavailable("127.0.0.1:1"), .noScratch("/var/tmp"), .noRoom(for: 1 << 30, in: "/var/tmp"),
            .unreadable("door.mkv", "Input/output error"), .noControlSocket, .refused("/dev/video0"),
        ] {
            #expect(Response(refusal, for: administrator).body == ByteBuffer(string: "\(refusal.reason)\n"))
            let said = String(buffer: Response(refusal, for: viewer).body)
            #expect(!said.contains("/") && !said.contains(".mkv") && !said.contains("127"), "\(said)")
        }
    }
}
