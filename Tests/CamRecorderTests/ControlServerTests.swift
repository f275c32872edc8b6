import Glibc
import CamNetworking
import Synchronization
import TestSupport
import Testing
import CamPlatform

@testable import CamRecorder

/// Commands through a socket, and arbitrary other input.
@Suite(.hangGuard) struct ControlServerTests {
    private let temporary = TemporaryFolder()
    private var folder: String { temporary.path }
    private var path: String { "\(folder)/socket" }

    private func serve() throws -> ControlServer {
        try ControlServer(PathListener(path: path)) { .line(Self.echo($0)) }
    }

    private static func echo(_ line: ControlLine) -> String {
        switch line {
        case .command(let command): "<\(command)>"
        case .fault(let fault): "error: \(fault)"
        }
    }

    /// Sends bytes, and reads a number of lines or to the end.
    private func ask(_ bytes: [UInt8], lines: Int = .max) throws -> String {
        let socket = try Socket.connect(path: path)
        _ = bytes.withUnsafeBytes { socket.send($0) }
        if lines == .max { socket.shutDownWriting() }
        var (answer, room) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while answer.count(where: { $0 == 10 }) < lines, socket.waitUntilReadable() {
            guard case .received(let count) = room.withUnsafeMutableBytes({ socket.receive(into: $0) }) else {
                break
            }
            answer += room[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test("a line is a command, and one line answers it")
    func lines() throws {
        let server = try serve()
        #expect(try ask(Array("stats\n".utf8), lines: 1) == "<stats>\n")
        #expect(try ask(Array("a\r\n\nb c\n".utf8)) == "<a>\n<>\n<b c>\n")
        withExtendedLifetime(server) {}
    }

    @Test("a line that is too long, or has no end, is answered with an error")
    func faults() throws {
        let server = try serve()
        let long = "error: a line has at most 1023 bytes; send one command a line\n"
        #expect(try ask(Array(repeating: 0x41, count: 5000)) == long)
        #expect(try ask(Array(repeating: 0x41, count: 1023) + [10], lines: 1).hasPrefix("<AAA"))
        #expect(
            try ask(Array("stats\nno end".utf8))
                == "<stats>\nerror: the line has no end; end each command with a newline\n")
        withExtendedLifetime(server) {}
    }

    @Test("survives a line that is not text")
    func hostile() throws {
        let server = try serve()
        #expect(try ask([0xff, 0xfe, 0, 10]).hasPrefix("<"))
        #expect(try ask([]) == "")
        #expect(try ask(Array("still there\n".utf8)) == "<still there>\n")
        withExtendedLifetime(server) {}
    }

    @Test("everybody of a crowd that came at once is answered, though it has more than there are places")
    func crowd() throws {
        let (entered, gate) = (Gate(), Gate())
        let server = try ControlServer(PathListener(path: path)) { line in
            if case .command("wait") = line {
                entered.open()
                gate.wait()
            }
            return .line(Self.echo(line))
        }
        let first = try Conversation(path)
        first.send("wait")
        entered.wait()
        let others = try (0..<30).map { _ in try Conversation(path) }
        for other in others { other.send("stats") }
        gate.open()
        for other in others { #expect(other.receive() == "<stats>\n") }
        withExtendedLifetime((server, first)) {}
    }

    @Test("silent connections make room for others")
    func manyConnections() throws {
        let server = try serve()
        let idle = (0..<20).compactMap { _ in try? IdleConnection(path) }
        #expect(idle.count == 20)
        #expect(try ask(Array("stats\n".utf8), lines: 1) == "<stats>\n")
        withExtendedLifetime((server, idle)) {}
    }

    @Test("the oldest one makes room")
    func oldestMakesWay() throws {
        let server = try serve()
        let conversations = try (0..<8).map { _ in try Conversation(path) }
        for conversation in conversations { #expect(conversation.ask("stats") == "<stats>\n") }
        let ninth = try Conversation(path)
        #expect(ninth.ask("stats") == "<stats>\n")
        #expect(conversations[0].ask("again") == "")
        for conversation in conversations.dropFirst() { #expect(conversation.ask("again") == "<again>\n") }
        withExtendedLifetime(server) {}
    }

    @Test("an answer longer than the system accepts at once arrives complete")
    func longAnswer() throws {
        let text = String(repeating: "long ", count: 200_000)
        let server = try ControlServer(PathListener(path: path)) { _ in .line(text) }
        #expect(try ask(Array("stats\n".utf8), lines: 1) == text + "\n")
        withExtendedLifetime(server) {}
    }

    @Test("disconnects a client that reads no answers")
    func deafConnection() throws {
        let server = try serve()
        let socket = try Socket.connect(path: path)
        let line = Array((String(repeating: "x", count: 1000) + "\n").utf8)
        // Its socket fills up, then the server's, and then the connection ends.
        var isOver = false
        while !isOver {
            if case .broken = line.withUnsafeBytes({ socket.send($0) }) { isOver = true }
        }
        #expect(try ask(Array("stats\n".utf8), lines: 1) == "<stats>\n")
        withExtendedLifetime(server) {}
    }

    /// A poller that the system refuses one descriptor.
    private func poller(refusing number: Int) throws -> Poller {
        let count = RegistrationCount()
        return try Poller(refuses: { count.next() == number })
    }

    @Test("a connection that cannot be watched ends, and the next one is served")
    func failedRegistration() throws {
        // The listener and the cancellation come first.
        let server = try ControlServer(PathListener(path: path), poller: poller(refusing: 3)) {
            .line(Self.echo($0))
        }
        let unwatched = try Conversation(path)
        #expect(unwatched.receive() == "")
        #expect(try ask(Array("stats\n".utf8), lines: 1) == "<stats>\n")
        withExtendedLifetime(server) {}
    }

    @Test("a server whose socket cannot be watched does not start", arguments: [1, 2])
    func noRegistration(failing: Int) throws {
        #expect(throws: NetworkError(.noResources(errno: ENOMEM), address: path)) {
            _ = try ControlServer(PathListener(path: path), poller: poller(refusing: failing)) { _ in
                .line("")
            }
        }
    }

    @Test("removes the socket with the server")
    func end() throws {
        do { _ = try serve() }
        #expect(access(path, F_OK) != 0)
        #expect(rmdir(folder) == 0)
    }
}

/// Counts from one, on any thread.
private final class RegistrationCount: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Commands, one after another.
private final class Conversation {
    private let socket: Socket
    init(_ path: String) throws { socket = try Socket.connect(path: path) }

    /// - Returns: nothing if the other end is gone.
    func ask(_ command: String) -> String {
        send(command)
        return receive()
    }

    func send(_ command: String) { _ = Array("\(command)\n".utf8).withUnsafeBytes { socket.send($0) } }

    /// - Returns: nothing if the other end is gone.
    func receive() -> String {
        var room = [UInt8](repeating: 0, count: 100)
        guard socket.waitUntilReadable(),
            case .received(let count) = room.withUnsafeMutableBytes({ socket.receive(into: $0) })
        else { return "" }
        return String(decoding: room[..<count], as: UTF8.self)
    }
}

private final class IdleConnection {
    private let socket: Socket
    init(_ path: String) throws { socket = try Socket.connect(path: path) }
}
