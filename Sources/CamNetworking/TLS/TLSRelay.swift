import Glibc
import CamPlatform

extension TLSSession {
    /// Passes a stream on through TLS: what is written to the relay's socket goes to the server, and what the server sends
    /// comes back.
    /// - Parameters:
    ///   - patience: how long until a server is given up that reads nothing.
    ///   - interruption: ends the relay, whatever has been sent.
    func relay(patience: Duration, interruption: Interruption) throws(NetworkError) -> Relay.Started {
        prepareForStreaming(patience: patience)
        return try Relay.start { [self] (socket, relay) throws(Relay.Failure) in
            var exchange = TLSExchange(self)
            try exchange.run(socket, relay, interruption)
        }
    }
}

/// What is on its way between a relay's socket and its session.
private struct TLSExchange {
    private let session: TLSSession
    private var outbound = Parcel()
    private var inbound = Parcel()
    private var hasEnded = false
    /// Bytes that the session has taken.
    private var sentByteCount = 0

    /// The most records that are read before the other direction has its turn.
    private static let recordsAtOnce = 64

    init(_ session: TLSSession) { self.session = session }

    /// Bytes that were received, and have to be sent.
    private struct Parcel {
        /// As many as TLS sends in one record.
        private var bytes = [UInt8](repeating: 0, count: 16 << 10)
        private var range = 0..<0

        var count: Int { range.count }

        mutating func discard() { range = 0..<0 }

        mutating func receive(_ body: (UnsafeMutableRawBufferPointer) -> Socket.Receiving) -> Socket.Receiving
        {
            let result = bytes.withUnsafeMutableBytes(body)
            if case .received(let count) = result { range = 0..<count }
            return result
        }

        mutating func send(_ body: (UnsafeRawBufferPointer) -> Socket.Sending) -> Socket.Sending {
            let result = bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
            if case .sent(let count) = result { range.removeFirst(count) }
            return result
        }
    }

    /// Goes on until the socket's other end is closed and everything is sent, or the interruption is raised.
    mutating func run(
        _ socket: borrowing Socket, _ relay: Relay, _ interruption: Interruption
    ) throws(Relay.Failure) {
        repeat {
            try advance(socket, relay)
            if hasEnded { return session.end() }
        } while wait(socket, interruption)
    }

    private mutating func advance(_ socket: borrowing Socket, _ relay: Relay) throws(Relay.Failure) {
        // What waits there is encrypted, which takes a little more room.
        defer { relay.noteConfirmed(max(0, sentByteCount - session.unconfirmedByteCount)) }
        try sendOutbound(from: socket)
        if !hasEnded { try sendInbound(to: socket) }
    }

    private mutating func sendOutbound(from socket: borrowing Socket) throws(Relay.Failure) {
        while true {
            if outbound.count == 0 {
                switch outbound.receive({ socket.receive(into: $0) }) {
                case .received: break
                case .nothing: return
                case .ended, .broken:
                    hasEnded = true
                    return
                }
            }
            switch outbound.send({ session.send($0) }) {
            case .sent(let count): sentByteCount += count
            case .full, .exhausted: return
            case .broken(let code): throw .broken(errno: code)
            }
        }
    }

    private mutating func sendInbound(to socket: borrowing Socket) throws(Relay.Failure) {
        for _ in 0..<Self.recordsAtOnce {
            if inbound.count == 0 {
                switch inbound.receive({ session.receive(into: $0) }) {
                case .received: break
                case .nothing: return
                case .ended: throw .closed
                case .broken(let code): throw .broken(errno: code)
                }
            }
            switch inbound.send({ socket.send($0) }) {
            case .sent: break
            case .full, .exhausted: return
            // Nobody reads any more; what was written before still has to be sent.
            case .broken: inbound.discard()
            }
        }
    }

    /// - Returns: false once the interruption is raised.
    private func wait(_ socket: borrowing Socket, _ interruption: Interruption) -> Bool {
        // A descriptor that is asked for nothing would still wake the thread once it is closed, again and again.
        func entry(_ descriptor: Int32, _ events: Int32) -> pollfd {
            pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0)
        }
        var descriptors = (
            entry(socket.descriptor, (outbound.count == 0 ? POLLIN : 0) | (inbound.count == 0 ? 0 : POLLOUT)),
            entry(
                session.descriptor, (outbound.count == 0 ? 0 : POLLOUT) | (inbound.count == 0 ? POLLIN : 0)),
            entry(interruption.descriptor, POLLIN)
        )
        _ = withUnsafeMutablePointer(to: &descriptors) {
            $0.withMemoryRebound(to: pollfd.self, capacity: 3) { poll($0, 3, -1) }
        }
        return descriptors.2.revents == 0
    }
}
