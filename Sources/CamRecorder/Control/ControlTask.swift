import CamControlProtocol
import Glibc
import CamNetworking
import CamPlatform

/// A command that takes time: it runs on a thread of its own and replies itself.
public protocol ControlTask: Sendable {
    /// Carries out the command, and sends the reply and what follows it.
    /// - Parameter text: returns a reply's line, without its newline.
    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String)
}

/// A command whose reply is followed by a file.
protocol FileTask: ControlTask {
    /// Makes the file, which may take seconds.
    func makeFile() throws(ControlRefusal) -> [UInt8]
}

extension FileTask {
    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String) {
        do throws(ControlRefusal) {
            let file = try makeFile()
            if socket.send(line: text(ControlReply(bytes: file.count))) { _ = socket.send(all: file) }
        } catch {
            _ = socket.send(line: text(ControlReply(error: error.reason)))
        }
    }
}

extension Socket {
    /// How long a client may read nothing.
    private static let patience = Duration.seconds(5)

    /// Sends a line, to which the newline is added.
    /// - Returns: false if the client is gone or does not read.
    borrowing func send(line: String) -> Bool { send(all: Array((line + "\n").utf8)) }

    /// Sends all of the bytes.
    /// - Returns: false if the client is gone or does not read.
    borrowing func send(all bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        // A megabyte takes a second at most.
        let deadline = Instant.now + Self.patience + .seconds(bytes.count >> 20)
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ send($0) }) {
            case .sent(let count): rest = rest.dropFirst(count)
            case .full:
                guard Instant.now < deadline,
                    Wake.wait(for: descriptor, POLLOUT, unless: nil, until: deadline) == .ready
                else { return false }
            case .exhausted, .broken: return false
            }
        }
        return true
    }
}
