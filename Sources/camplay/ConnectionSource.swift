import Glibc
import Network
import Terminal
import Threading

/// A sender on the network: connected to, or waited for, as often as it takes.
final class ConnectionSource: ByteSource {
    let name: String
    private let origin: Origin
    private let isOnce: Bool
    private let interruption: Interruption
    private let console: Console
    private var socket: Socket?
    /// Whether anything came at any time.
    private var hasReceived = false
    private var backOff = BackOff()
    private var isOutageTold = false
    private var hasBroken = false
    /// Whether bytes came since the last pause.
    private var mayPause = false

    private enum Origin: ~Copyable {
        case sender(SocketAddress)
        case listener(Listener)
    }

    /// Nanoseconds that connecting may take.
    private static let connectTimeout: Int64 = 5_000_000_000
    /// Nanoseconds without a byte that are taken for the end of a picture. A sender writes one in one go, and
    /// where the network parts it nevertheless, the decoder finds out.
    private static let pauseDuration: Int64 = 2_000_000
    /// Seconds after which a sender whose machine is gone is given up.
    private static let patience = 10

    /// Connects to a sender.
    init(sender address: SocketAddress, once: Bool, interruption: Interruption, console: Console) {
        name = "tcp://\(address)"
        origin = .sender(address)
        (isOnce, self.interruption, self.console) = (once, interruption, console)
    }

    /// Waits for senders, one at a time.
    init(
        listeningOn address: SocketAddress, once: Bool, interruption: Interruption, console: Console
    ) throws(PlayError) {
        do throws(NetworkError) {
            let listener = try Listener(address)
            name = "listen://\(listener.address)"
            if !listener.address.isLoopback {
                console.warn("\(name): whoever can reach this port can send; nothing asks who it is")
            }
            origin = .listener(listener)
        } catch {
            throw .network(error)
        }
        (isOnce, self.interruption, self.console) = (once, interruption, console)
        console.inform("\(name): waiting for a sender")
    }

    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading {
        while !interruption.isRaised {
            guard let connected = socket.take() else {
                if isOnce, hasBroken { return .ended }
                try connect()
                continue
            }
            let pause = mayPause ? MonotonicTime.now() + Self.pauseDuration : nil
            guard connected.waitUntilReadable(until: pause, interruption: interruption.descriptor) else {
                socket = consume connected
                mayPause = false
                return interruption.isRaised ? .ended : .pause
            }
            switch connected.receive(into: room) {
            case .received(let count):
                socket = consume connected
                (backOff, isOutageTold, hasReceived) = (BackOff(), false, true)
                mayPause = true
                return .bytes(count)
            case .nothing: socket = consume connected
            case .ended:
                console.inform("\(name): the sender has ended")
                leaveSender()
                return .interrupted(isWhole: true)
            case .broken(let code):
                console.warn("\(name): the connection broke: \(String(cString: strerror(code)))")
                leaveSender()
                return .interrupted(isWhole: false)
            }
        }
        return .ended
    }

    /// Makes a connection, or waits a while.
    private func connect() throws(PlayError) {
        do throws(NetworkError) {
            socket = try makeConnection()
        } catch {
            if case .unknownHost = error.kind, !hasReceived { throw .network(error) }
            if !isOutageTold { console.warn("\(error); trying again") }
            isOutageTold = true
            backOff.wait(interruption)
        }
    }

    /// Nil where the interruption came first.
    private func makeConnection() throws(NetworkError) -> Socket? {
        switch origin {
        case .sender(let address):
            let socket = try Socket.connect(
                to: address, timeout: Self.connectTimeout, interruption: interruption.descriptor)
            socket.prepareForStreaming(patience: Self.patience)
            console.inform("\(name): connected")
            return socket
        case .listener(let listener):
            return try accept(from: listener)
        }
    }

    private func accept(from listener: borrowing Listener) throws(NetworkError) -> Socket? {
        var descriptors = (
            pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0)
        )
        _ = withUnsafeMutablePointer(to: &descriptors) {
            $0.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, -1) }
        }
        guard descriptors.0.revents != 0 else { return nil }
        switch listener.accept() {
        case .connection(let socket, let peer):
            socket.prepareForStreaming(patience: Self.patience)
            console.inform("\(name): \(peer) sends")
            return socket
        case .nobody: return nil
        case .exhausted(let code): throw NetworkError(.noResources(errno: code), address: name)
        }
    }

    /// A sender that ends at once, again and again, is not asked without pause.
    private func leaveSender() {
        hasBroken = true
        if !isOnce { backOff.wait(interruption) }
    }
}
