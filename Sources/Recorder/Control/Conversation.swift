import Network

/// One connection to the control socket.
final class Conversation {
    let socket: Socket
    /// Later ones have higher numbers.
    let number: Int
    private var line: [UInt8] = []
    /// Of an answer, what the system has not taken yet.
    private var unsent: ArraySlice<UInt8> = []

    /// Longer than any command.
    static let longestLine = 1024

    /// What is to be done next.
    enum State { case nothing, more, over }

    init(_ socket: consuming Socket, number: Int) {
        self.socket = socket
        self.number = number
        line.reserveCapacity(Self.longestLine)
    }

    /// Reads some of what has come, and answers the lines in it, of which each waits for the answer before it.
    func serve(_ answer: (String) -> String) -> State {
        guard flush() else { return .over }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { room in
            switch socket.receive(into: room) {
            case .received(let count):
                // Whoever asks on reads no answers.
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

    /// - Returns: false where the connection is to end.
    private func take(_ byte: UInt8, _ answer: (String) -> String) -> Bool {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            return line.count < Self.longestLine
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line.removeAll(keepingCapacity: true) }
        return send(answer(String(decoding: line, as: UTF8.self)))
    }

    /// - Returns: false where nobody reads the answer before it.
    private func send(_ answer: String) -> Bool {
        guard unsent.isEmpty else { return false }
        unsent = ArraySlice((answer + "\n").utf8)
        return flush()
    }

    /// Sends what the system takes now.
    /// - Returns: false where the connection is broken.
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
