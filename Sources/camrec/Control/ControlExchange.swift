import Glibc
import CamNetworking
import CamCommandLine
import CamPlatform

/// A connection to a recording's control socket: sends a line, and reads what comes back.
final class ControlExchange {
    private let socket: Socket
    private var received: [UInt8] = []

    /// How long the recording may send nothing.
    static let usualPatience = Duration.seconds(8)
    private static let longestLine = 1 << 20

    /// Connects to a socket. If that fails, says why.
    init(path: String, console: Console) throws(ExitStatus) {
        do throws(NetworkError) { socket = try Socket.connect(path: path) } catch {
            console.fail(Self.explain(error, path))
            throw .unavailable
        }
    }

    /// Sends a command, without its newline.
    /// - Returns: whether the system took all of it.
    func send(_ line: String) -> Bool {
        let bytes = Array((line + "\n").utf8)
        return bytes.withUnsafeBytes { socket.send($0) } == .sent(bytes.count)
    }

    /// Reads a line, and returns it without its newline; nil if none comes.
    /// - Parameter patience: how long the recording may send nothing.
    func readLine(patience: Duration = usualPatience) -> String? {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            searched = received.count
            guard searched < Self.longestLine, receive(patience) else { return nil }
        }
    }

    /// Reads bytes; nil if fewer come.
    func readBytes(_ count: Int) -> [UInt8]? {
        while received.count < count { guard receive(Self.usualPatience) else { return nil } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    /// - Returns: false if nothing came in time.
    private func receive(_ patience: Duration) -> Bool {
        guard socket.waitUntilReadable(until: .now + patience) else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { room in
            guard case .received(let count) = socket.receive(into: room) else { return false }
            received += room[..<count]
            return true
        }
    }

    private static func explain(_ error: NetworkError, _ path: String) -> String {
        switch error.kind {
        case .notConnected(ENOENT), .notConnected(ENOTDIR):
            "\(path): no such socket; is a recording running with --control-socket \(path)?"
        case .notConnected(ECONNREFUSED):
            "\(path): no recording listens there; start one with --control-socket \(path)"
        case .notConnected(EACCES), .notConnected(EPERM):
            "\(path): no permission; only the recording user can send commands"
        default: error.description
        }
    }
}
