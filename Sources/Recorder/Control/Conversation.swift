import Network

/// One connection to the control socket.
final class Conversation {
    let socket: Socket
    /// Later ones have higher numbers.
    let number: Int
    private var line: [UInt8] = []

    /// Longer than any command.
    static let longestLine = 1024

    /// What is to be done next.
    enum State { case nothing, more, over }

    init(_ socket: consuming Socket, number: Int) {
        self.socket = socket
        self.number = number
        line.reserveCapacity(Self.longestLine)
    }

    /// Reads some of what has come, and answers the lines in it.
    func serve(_ answer: (String) -> String) -> State {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { room in
            switch socket.receive(into: room) {
            case .received(let count):
                for byte in room[..<count] {
                    guard take(byte, answer) else { return .over }
                }
                return .more
            case .nothing: return .nothing
            case .ended, .broken: return .over
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

    /// Answers are short: one for which there is no room at once is not read by anybody.
    private func send(_ answer: String) -> Bool {
        let bytes = Array((answer + "\n").utf8)
        return bytes.withUnsafeBytes { socket.send($0) } == .sent(bytes.count)
    }
}
