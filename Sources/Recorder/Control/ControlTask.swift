import ControlProtocol
import Glibc
import Network
import Threading
import Time

/// A command that takes time: it replies itself, on a thread of its own.
public protocol ControlTask: Sendable {
    /// Carries it out, and sends the reply and what follows it.
    /// - Parameter text: the reply's line, without its newline.
    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String)
}

/// Sends replies of tasks.
enum TaskReply {
    /// How long a client may read nothing.
    private static let patience = Duration.seconds(5)

    /// Sends all of the bytes.
    /// - Returns: false if the client is gone, or does not read.
    @discardableResult
    static func send(_ bytes: [UInt8], to socket: borrowing Socket) -> Bool {
        var rest = bytes[...]
        // A megabyte takes a second at most.
        let deadline = Instant.now + patience + .seconds(rest.count >> 20)
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ socket.send($0) }) {
            case .sent(let count): rest = rest.dropFirst(count)
            case .full:
                guard Instant.now < deadline,
                    Wake.wait(for: socket.descriptor, POLLOUT, unless: nil, until: deadline) == .ready
                else { return false }
            case .exhausted, .broken: return false
            }
        }
        return true
    }

    /// Sends a reply's line.
    @discardableResult
    static func send(_ line: String, to socket: borrowing Socket) -> Bool {
        send(Array((line + "\n").utf8), to: socket)
    }
}
