import CamNetworking
import CamPlatform
import Glibc

/// What a connection sent.
package enum ControlLine: Sendable {
    /// A line, without its newline.
    case command(String)
    /// Bytes that are no line. The connection ends after the reply.
    case fault(Fault)

    /// Why bytes are no line.
    package enum Fault: Sendable, CustomStringConvertible {
        case tooLong
        /// The connection ended first.
        case unterminated

        package var description: String {
            switch self {
            case .tooLong: "a line has at most \(Conversation.longestLine - 1) bytes; send one command a line"
            case .unterminated: "the line has no end; end each command with a newline"
            }
        }
    }
}

/// The reply to a line from a connection.
package enum ControlAnswer: Sendable {
    /// A line, without its newline.
    case line(String)
    /// The task sends the reply, on its own thread; then the connection ends.
    case task(@Sendable (borrowing Socket) -> Void)
}

/// Accepts commands from other programs on a socket: one line per command, one line per reply.
///
/// Its own thread serves a few connections at a time. Input is not trusted: a connection is closed if it sends too
/// long a line, which gets a last reply, or does not read its replies.
package final class ControlServer {
    private let cancellation: CancellationFlag
    private var thread: WorkerThread?

    /// Starts serving.
    /// - Parameter answer: returns the reply to a line; called on the server's thread.
    package convenience init(
        _ listener: consuming PathListener, answer: @escaping @Sendable (ControlLine) -> ControlAnswer
    ) throws(NetworkError) {
        try self.init(listener, poller: try Poller(), answer: answer)
    }

    /// - Parameter poller: watches nothing yet.
    init(
        _ listener: consuming PathListener, poller: consuming Poller,
        answer: @escaping @Sendable (ControlLine) -> ControlAnswer
    ) throws(NetworkError) {
        let path = listener.path
        guard let cancellation = CancellationFlag() else {
            throw NetworkError(.noResources(errno: EMFILE), address: path)
        }
        self.cancellation = cancellation
        let loop = try ControlLoop(listener, poller: poller, cancellation: cancellation, answer: answer)
        thread = WorkerThread { loop.run() }
        guard thread != nil else { throw NetworkError(.noResources(errno: EAGAIN), address: path) }
    }

    deinit {
        cancellation.raise()
        if let thread = thread.take() { thread.join() }
    }
}

/// The server thread's work.
private final class ControlLoop: @unchecked Sendable {
    // Safe to share: its creator hands it to the server's thread and no longer uses it.
    private let listener: PathListener
    private let poller: Poller
    private let cancellation: CancellationFlag
    private let answer: @Sendable (ControlLine) -> ControlAnswer
    private var conversations: [Conversation?] = Array(repeating: nil, count: ControlLoop.mostConversations)
    private var mayHaveMore: [Bool] = Array(repeating: false, count: ControlLoop.mostConversations)
    private var count = 0
    /// When to accept again: at once if there may be more connections, later if the system ran out of
    /// descriptors.
    private var nextAcceptance: Instant?

    private static let second = Duration.seconds(1)
    private static let mostConversations = 8

    private enum Token {
        static let listener: UInt64 = 0
        static let cancellation: UInt64 = 1
        static let firstConversation = 2
    }

    init(
        _ listener: consuming PathListener, poller: consuming Poller, cancellation: CancellationFlag,
        answer: @escaping @Sendable (ControlLine) -> ControlAnswer
    ) throws(NetworkError) {
        self.listener = listener
        self.poller = poller
        self.cancellation = cancellation
        self.answer = answer
        guard self.poller.watch(self.listener.listener.descriptor, for: .readable, token: Token.listener),
            self.poller.watch(cancellation.descriptor, for: .readable, token: Token.cancellation)
        else { throw NetworkError(.noResources(errno: ENOMEM), address: self.listener.path) }
    }

    func run() {
        while !cancellation.isRaised {
            poller.wait(until: mayHaveMore.contains(true) ? .start : nextAcceptance) { token, _ in
                guard token >= UInt64(Token.firstConversation) else { return }
                mayHaveMore[Int(token) - Token.firstConversation] = true
            }
            accept()
            for slot in conversations.indices where mayHaveMore[slot] { serve(slot) }
        }
    }

    private func accept() {
        nextAcceptance = nil
        // Serve each connection once before a newer one may replace it.
        for _ in 0..<Self.mostConversations {
            let socket: Socket
            switch listener.listener.accept() {
            case .connection(let connected, _): socket = connected
            case .noneWaiting: return
            case .exhausted: return nextAcceptance = .now + Self.second
            }
            let slot = freeSlot()
            count += 1
            let token = UInt64(slot + Token.firstConversation)
            guard poller.watch(socket.descriptor, for: [.readable, .writable], token: token) else { continue }
            conversations[slot] = Conversation(socket, number: count)
            mayHaveMore[slot] = true
        }
        nextAcceptance = .start
    }

    /// Returns a free slot, closing the oldest conversation if there is none.
    private func freeSlot() -> Int {
        if let slot = conversations.firstIndex(where: { $0 == nil }) { return slot }
        let oldest = conversations.indices.min {
            (conversations[$0]?.number ?? 0) < (conversations[$1]?.number ?? 0)
        }
        let slot = oldest ?? 0
        end(slot)
        return slot
    }

    private func serve(_ slot: Int) {
        switch conversations[slot]?.serve(answer) {
        case .nothing?: mayHaveMore[slot] = false
        case .more?: break
        case .over?, nil: end(slot)
        }
    }

    private func end(_ slot: Int) {
        if let conversation = conversations[slot].take() { poller.forget(conversation.socket.descriptor) }
        mayHaveMore[slot] = false
    }
}

// MARK: Connections

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
    func serve(_ answer: (ControlLine) -> ControlAnswer) -> State {
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
            case .ended:
                if !line.isEmpty, unsent.isEmpty, !reply(to: .fault(.unterminated), answer) { return .over }
                return unsent.isEmpty ? .over : .nothing
            case .broken: return .over
            }
        }
    }

    /// - Returns: false if the connection should be closed.
    private func take(_ byte: UInt8, _ answer: (ControlLine) -> ControlAnswer) -> Bool {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            if line.count < Self.longestLine { return true }
            _ = reply(to: .fault(.tooLong), answer)
            return false
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return reply(to: .command(String(decoding: line, as: UTF8.self)), answer)
    }

    /// - Returns: false if the connection should be closed.
    private func reply(to given: ControlLine, _ answer: (ControlLine) -> ControlAnswer) -> Bool {
        line.removeAll(keepingCapacity: true)
        switch answer(given) {
        case .line(let line): return send(line)
        case .task(let task):
            handOver(to: task)
            return false
        }
    }

    /// Passes the connection to a task. It stays open as long as the task runs.
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
