import CamNetworking
import CamPlatform

/// One connection to the control socket.
final class Conversation {
    let socket: Socket
    /// Later conversations have higher numbers.
    let number: Int
    private var line: [UInt8] = []
    /// The part of a reply that the system has not yet accepted.
    private var unsent: ArraySlice<UInt8> = []

    /// Longer than any command.
    static let longestLine = 1024

    /// What to do next.
    enum State { case nothing, more, over }

    init(_ socket: consuming Socket, number: Int) {
        self.socket = socket
        self.number = number
        line.reserveCapacity(Self.longestLine)
    }

    /// Reads available bytes and replies to each complete line, in order.
    func serve(_ answer: (String) -> ControlAnswer) -> State {
        guard flush() else { return .over }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { room in
            switch socket.receive(into: room) {
            case .received(let count):
                // A client that sends more before its reply is sent does not read replies.
                guard unsent.isEmpty else { return .over }
                for byte in room[..<count] {
                    guard take(byte, answer) else { return .over }
                }
                return .more
            case .nothing: return .nothing
            case .ended: return unsent.isEmpty ? .over : .nothing
            case .broken: return .over
            }
        }
    }

    /// - Returns: false if the connection should be closed.
    private func take(_ byte: UInt8, _ answer: (String) -> ControlAnswer) -> Bool {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            return line.count < Self.longestLine
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line.removeAll(keepingCapacity: true) }
        switch answer(String(decoding: line, as: UTF8.self)) {
        case .line(let line): return send(line)
        case .task(let task):
            handOver(to: task)
            return false
        }
    }

    /// Lets a task have the connection, which stays open as long as it does.
    private func handOver(to task: @escaping @Sendable (borrowing Socket) -> Void) {
        // A client that has not read its earlier replies does not read a picture.
        guard unsent.isEmpty, let connection = socket.duplicate() else { return }
        let handedOver = HandedOver(connection)
        if let thread = WorkerThread(body: { task(handedOver.socket) }) { thread.detach() }
    }

    /// A connection that belongs to a task's thread.
    private final class HandedOver: Sendable {
        let socket: Socket

        init(_ socket: consuming Socket) { self.socket = socket }
    }

    /// - Returns: false if the previous reply has not been read.
    private func send(_ answer: String) -> Bool {
        guard unsent.isEmpty else { return false }
        unsent = ArraySlice((answer + "\n").utf8)
        return flush()
    }

    /// Sends as much as the system accepts now.
    /// - Returns: false if the connection is broken.
    private func flush() -> Bool {
        while !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ socket.send($0) }) {
            case .sent(let count): unsent = unsent.dropFirst(count)
            case .full: return true
            case .exhausted, .broken: return false
            }
        }
        return true
    }
}
