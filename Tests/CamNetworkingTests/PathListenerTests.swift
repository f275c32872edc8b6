import Glibc
import TestSupport
import Testing

@testable import CamNetworking

/// Sockets with a name in the file system.
@Suite struct PathListenerTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }
    private var path: String { "\(folder)/socket" }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : nil
    }

    private func failure(_ body: () throws(NetworkError) -> Void) -> NetworkError.Kind? {
        do throws(NetworkError) {
            try body()
            return nil
        } catch { return error.kind }
    }

    private func make(_ path: String) throws(NetworkError) { _ = try PathListener(path: path) }

    @Test("only its owner can use a socket; it accepts connections, and is removed with its listener")
    func life() throws {
        do {
            let listener = try PathListener(path: path)
            #expect(mode(path) == S_IFSOCK | 0o600)
            let client = try Socket.connect(path: path)
            guard case .connection(let server, _) = listener.listener.accept() else {
                Issue.record("nobody came")
                return
            }
            let sent = client.sends([1])
            #expect(sent == .sent(1))
            _ = consume server
        }
        #expect(mode(path) == nil)
    }

    @Test("leaves no socket whose mode cannot be set")
    func noMode() {
        let path = "\(folder)/unset"
        let found = failure { () throws(NetworkError) in
            // Binding never gives this mode.
            _ = try PathListener(path: path, mode: 0o1600) { _, _ in EPERM }
        }
        #expect(found == .notMade(errno: EPERM))
        #expect(mode(path) == nil)
    }

    @Test("refuses a socket with a listener, and leaves it")
    func living() throws {
        let listener = try PathListener(path: path)
        #expect(failure { () throws(NetworkError) in try make(path) } == .pathTaken(isListening: true))
        _ = try Socket.connect(path: path)
        let name = listener.path
        #expect(name == path)
    }

    @Test("replaces a socket that a program left behind")
    func leftBehind() throws {
        do {
            let socket = try Socket(family: AF_UNIX)
            let address = try #require(ResolvedAddress(path: path))
            _ = try Listener(binding: socket, to: address, name: path)
        }
        #expect(mode(path) != nil)
        let listener = try PathListener(path: path)
        _ = try Socket.connect(path: path)
        let name = listener.path
        #expect(name == path)
    }

    @Test("refuses files and links, and leaves them")
    func others() throws {
        close(open(path, O_WRONLY | O_CREAT, 0o644))
        #expect(failure { () throws(NetworkError) in try make(path) } == .pathTaken(isListening: false))
        #expect(mode(path) == S_IFREG | 0o644)
        unlink(path)
        symlink("/nowhere", path)
        #expect(failure { () throws(NetworkError) in try make(path) } == .pathTaken(isListening: false))
        #expect(mode(path).map { $0 & S_IFMT } == S_IFLNK)
    }

    @Test("the mode is the requested one, whatever the umask")
    func modes() throws {
        let listener = try PathListener(path: path, mode: 0o666)
        #expect(mode(listener.path) == S_IFSOCK | 0o666)
    }

    @Test(
        "does not follow a stranger's link on the way",
        .enabled(if: geteuid() == 0, "needs root to make a stranger's link"))
    func strangersLink() {
        chmod(folder, 0o1777)
        let link = "\(folder)/link"
        symlink("/tmp", link)
        defer { unlink(link) }
        lchown(link, 65534, 65534)
        #expect(failure { () throws(NetworkError) in try make("\(link)/socket") } == .untrustedLink("link"))
    }

    @Test("leaves what another program put in the socket's place")
    func replaced() throws {
        do {
            let listener = try PathListener(path: path)
            unlink(listener.path)
            close(open(path, O_WRONLY | O_CREAT, 0o644))
        }
        #expect(mode(path) == S_IFREG | 0o644)
    }

    @Test("refuses a path that is too long, empty, or has no folder")
    func badPaths() {
        let long = String(repeating: "x", count: 108)
        #expect(failure { () throws(NetworkError) in try make(long) } == .badPath)
        #expect(failure { () throws(NetworkError) in try make("") } == .badPath)
        #expect(
            failure { () throws(NetworkError) in try make("\(folder)/none/socket") }
                == .notMade(errno: ENOENT))
    }
}
