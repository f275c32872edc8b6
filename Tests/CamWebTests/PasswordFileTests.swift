import Glibc
import TestSupport
import Testing

@testable import CamWeb

@Suite("password files")
struct PasswordFileTests {
    private let folder = TemporaryFolder()
    /// Of the right shape.
    private static let hash = "$y$j75$HASHSALT$HASHTEXT"

    private func failure(_ text: String, mode: mode_t = 0o600) -> PasswordFile.Failure? {
        folder.write("password", text)
        chmod(folder.path("password"), mode)
        do throws(PasswordFile.Failure) {
            _ = try PasswordFile(path: folder.path("password"))
            return nil
        } catch { return error }
    }

    @Test("what is written admits its users, and nobody else")
    func written() throws {
        let path = folder.path("new")
        var passwords = PasswordFile()
        passwords.set(try #require(PasswordHash(of: "correct horse")), for: "maria")
        try passwords.write(to: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let found = try PasswordFile(path: path)
        #expect(found == passwords)
        #expect(found.admits("maria", "correct horse"))
        #expect(!found.admits("maria", "correct hors"))
        #expect(!found.admits("Maria", "correct horse"))
        #expect(!found.admits("", ""))
    }

    @Test("two hashes of a password differ, and are scrypt's successor's")
    func salt() throws {
        let (a, b) = (try #require(PasswordHash(of: "password")), try #require(PasswordHash(of: "password")))
        #expect(a != b)
        #expect(a.text.hasPrefix("$y$jBT$"))
    }

    @Test("one that others may read or change is refused; a credential's is not")
    func exposed() {
        let text = "maria:\(Self.hash)\n"
        let path = folder.path("password")
        for mode in [0o644, 0o602, 0o620, 0o601] as [mode_t] {
            #expect(failure(text, mode: mode) == .exposed(path: path))
        }
        for mode in [0o600, 0o400, 0o440] as [mode_t] { #expect(failure(text, mode: mode) == nil) }
    }

    @Test(
        "lines that are none",
        arguments: [
            "maria", "maria:", ":\(PasswordFileTests.hash)", "ma ria:\(PasswordFileTests.hash)",
            "maria:$1$a$b",
            "maria:plain", "maria:\(PasswordFileTests.hash):viewer:", "maria:$y$j75$only", "maria:viewer",
            "maria:viewer:\(PasswordFileTests.hash)", "::", "maria::viewer",
            ":\(PasswordFileTests.hash):viewer",
            "maria:\(PasswordFileTests.hash)\nmaria:\(PasswordFileTests.hash)",
            "maria:$y$a$b$" + String(repeating: "c", count: 500),
        ])
    func damaged(text: String) {
        guard case .damaged = failure(text) else {
            Issue.record("\(text) is accepted")
            return
        }
    }

    @Test("a role is viewer or admin; a line without a role has none")
    func roles() throws {
        let text = "a:\(Self.hash)\nb:\(Self.hash):viewer\nc:\(Self.hash):admin\n"
        let passwords = try PasswordFile(Array(text.utf8), path: "users")
        #expect(passwords["a"]?.role == nil && passwords["a"] != nil)
        #expect(passwords["b"]?.role == .viewer)
        #expect(passwords["c"]?.role == .admin)
        #expect(passwords["d"] == nil)
    }

    @Test(
        "an unknown role is refused, with its line",
        arguments: ["", "Viewer", "viewer ", " admin", "root", "admin\r", "viewer,admin", "\u{202E}admin"])
    func unknownRole(role: String) {
        let path = folder.path("password")
        #expect(failure("a:\(Self.hash)\nmaria:\(Self.hash):\(role)\n") == .unknownRole(path: path, line: 2))
    }

    @Test("another password keeps the role, unless one is given")
    func sameRole() throws {
        let path = folder.path("new")
        var passwords = PasswordFile()
        passwords.set(try #require(PasswordHash(of: "correct horse")), for: "guest", role: .viewer)
        passwords.set(try #require(PasswordHash(of: "another horse")), for: "guest")
        try passwords.write(to: path)
        #expect(try PasswordFile(path: path)["guest"]?.role == .viewer)
        passwords.set(try #require(PasswordHash(of: "another horse")), for: "guest", role: .admin)
        try passwords.write(to: path)
        #expect(try PasswordFile(path: path)["guest"]?.role == .admin)
    }

    @Test("a file that is followed: each change is seen once, and what cannot be used says why")
    func watch() throws {
        let path = folder.path("password")
        #expect(failure("maria:\(Self.hash)\n") == nil)
        let first = try PasswordFile(path: path)
        var watch = PasswordWatch(path, first)
        #expect(watch.look() == nil)
        folder.write("password", "maria:\(Self.hash):viewer\n")
        #expect(try watch.look()?.get()["maria"]?.role == .viewer)
        #expect(watch.look() == nil)
        folder.write("password", "")
        #expect(watch.look() == .failure(.empty(path: path)))
        #expect(watch.look() == nil)
        folder.write("password", "maria:\(Self.hash)\n")
        #expect(watch.look() == .success(first))
    }

    @Test("no file, no users, too many, too much")
    func unusable() {
        #expect(failure("") == .empty(path: folder.path("password")))
        #expect(failure(String(repeating: "a", count: 100_000)) == .tooLong(path: folder.path("password")))
        let users = (0..<101).map { "user\($0):\(Self.hash)\n" }.joined()
        #expect(failure(users) == .tooManyUsers(path: folder.path("password")))
        #expect(throws: PasswordFile.Failure.noFile(path: "/")) { try PasswordFile(path: "/") }
        #expect(throws: PasswordFile.Failure.unreadable(path: folder.path("none"), errno: ENOENT)) {
            try PasswordFile(path: folder.path("none"))
        }
    }

    @Test("passwords that cannot be used")
    func complaints() {
        for password in ["", "short", String(repeating: "a", count: 257), "with\ttab and more"] {
            #expect(PasswordHash.complaint(about: password) != nil)
        }
        #expect(PasswordHash.complaint(about: "correct horse") == nil)
    }
}
