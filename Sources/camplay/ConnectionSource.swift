import Glibc
import CamNetworking
import CamCommandLine
import CamPlatform

/// A sender on the network: connects to it, or waits for it, again and again.
final class ConnectionSource: ByteSource {
    let name: String
    private let origin: Origin
    private let isOnce: Bool
    private let cancellation: CancellationFlag
    private let console: Console
    private var socket: Socket?
    /// When the connection was made, and when data last arrived over it.
    private var (start, latest) = (Instant.start, Instant.start)
    /// Whether data arrived over this connection, and over any connection so far.
    private var (isHeard, hasReceived) = (false, false)
    private var backOff = BackOff(longest: .seconds(4))
    private var isOutageTold = false
    private var hasBroken = false
    /// Whether bytes arrived since the last pause.
    private var mayPause = false

    private enum Origin: ~Copyable {
        case sender(SocketAddress)
        case listener(Listener)
    }

    /// How long connecting may take.
    private static let connectTimeout = Duration.seconds(5)
    /// A time without a byte that counts as the end of a picture. A sender writes a picture at once; if the
    /// network splits it anyway, the decoder notices.
    private static let pauseDuration = Duration.milliseconds(2)
    /// How long a sender's machine may be unreachable before its connection is dropped.
    private static let patience = Duration.seconds(10)
    /// How long a sender may be silent before another one may replace it.
    private static let silence = Duration.seconds(5)

    /// Connects to a sender.
    init(sender address: SocketAddress, once: Bool, cancellation: CancellationFlag, console: Console) {
        name = "tcp://\(address)"
        origin = .sender(address)
        (isOnce, self.cancellation, self.console) = (once, cancellation, console)
    }

    /// Waits for senders, one at a time.
    init(
        listeningOn address: SocketAddress, once: Bool, cancellation: CancellationFlag, console: Console
    ) throws(PlayError) {
        do throws(NetworkError) {
            let listener = try Listener(address)
            name = "listen://\(listener.address)"
            if !listener.address.isLoopback {
                console.warn("\(name): anyone who can reach this port can send, without a password")
            }
            origin = .listener(listener)
        } catch {
            throw .network(error)
        }
        (isOnce, self.cancellation, self.console) = (once, cancellation, console)
        console.inform("\(name): waiting for a sender")
    }

    var isReady: Bool {
        guard let connected = socket.take() else { return false }
        let isReady = WaitResult.wait(for: connected.descriptor, unless: nil, until: .distantPast) == .ready
        socket = consume connected
        return isReady
    }

    func read(into room: UnsafeMutableRawBufferPointer) throws(PlayError) -> Reading {
        while !cancellation.isRaised {
            guard let connected = socket.take() else {
                if isOnce, hasBroken { return .ended }
                try connect()
                continue
            }
            switch wait(for: connected) {
            case .ready: break
            case .otherReady:
                let hadBytes = isHeard
                guard try replace(connected) else { continue }
                if hadBytes { return .interrupted(isWhole: true) }
                continue
            case .due:
                socket = consume connected
                mayPause = false
                return .pause
            case .interrupted: return .ended
            }
            switch connected.receive(into: room) {
            case .received(let count):
                socket = consume connected
                (latest, isHeard, hasReceived) = (.now, true, true)
                mayPause = true
                return .bytes(count)
            case .nothing: socket = consume connected
            case .ended:
                console.inform("\(name): the sender disconnected")
                leaveSender()
                return .interrupted(isWhole: true)
            case .broken(let code):
                report("\(name): connection lost: \(String(cString: strerror(code)))")
                leaveSender()
                return .interrupted(isWhole: false)
            }
        }
        return .ended
    }

    func giveUp(_ reason: String) -> Bool {
        guard !isOnce else { return false }
        report("\(name): \(reason); waiting for another sender")
        if socket.take() != nil { leaveSender() }
        return true
    }
}

extension ConnectionSource {
    /// Waits until data arrives or the stream pauses; if the sender is silent, also until another one
    /// connects.
    private func wait(for connected: borrowing Socket) -> WaitResult {
        if mayPause {
            return cancellation.wait(for: connected.descriptor, until: .now + Self.pauseDuration)
        }
        switch origin {
        case .sender: return cancellation.wait(for: connected.descriptor)
        case .listener(let listener):
            let deadline = latest + Self.silence
            let wake = cancellation.wait(for: connected.descriptor, until: deadline)
            guard wake == .due else { return wake }
            return cancellation.wait(for: connected.descriptor, or: listener.descriptor)
        }
    }

    /// Accepts another sender instead of a silent one.
    /// - Returns: false if the other one is gone already.
    private func replace(_ silent: consuming Socket) throws(PlayError) -> Bool {
        do throws(NetworkError) { socket = try makeConnection() } catch { throw .network(error) }
        guard let taken = socket.take() else {
            socket = consume silent
            return false
        }
        socket = consume taken
        console.warn(
            "\(name): the sender was silent for \(Self.silence.components.seconds) s; accepting another one"
        )
        return true
    }

    /// Makes a connection, or waits for a while.
    private func connect() throws(PlayError) {
        do throws(NetworkError) {
            socket = try makeConnection()
        } catch {
            if case .unknownHost = error.kind, !hasReceived { throw .network(error) }
            if case .interrupted = error.kind { return }
            report("\(error); retrying")
            pause()
        }
    }

    /// Makes a connection; nil after a cancellation, or if the peer has left.
    private func makeConnection() throws(NetworkError) -> Socket? {
        let made: Socket?
        switch origin {
        case .sender(let address):
            made = try Socket.connect(
                to: address, timeout: Self.connectTimeout, cancellation: cancellation)
            console.inform("\(name): connected")
        case .listener(let listener): made = try accept(from: listener)
        }
        guard let made else { return nil }
        made.prepareForStreaming(patience: Self.patience)
        start = .now
        (latest, isHeard, mayPause) = (start, false, false)
        return made
    }

    private func accept(from listener: borrowing Listener) throws(NetworkError) -> Socket? {
        guard cancellation.wait(for: listener.descriptor) == .ready else { return nil }
        switch listener.accept() {
        case .connection(let socket, let peer):
            console.inform("\(name): receiving from \(peer)")
            return socket
        case .noneWaiting: return nil
        case .exhausted(let code): throw NetworkError(.noResources(errno: code), address: name)
        }
    }

    /// Pauses before reconnecting to a sender that repeatedly disconnects at once.
    private func leaveSender() {
        hasBroken = true
        if isHeard, backOff.noteSuccess(lasting: .now - start) { isOutageTold = false }
        if !isOnce { pause() }
    }

    private func pause() { _ = cancellation.wait(until: .now + backOff.next()) }

    /// Warns once per outage; further attempts are information.
    private func report(_ problem: String) {
        if isOutageTold { console.inform(problem) } else { console.warn(problem) }
        isOutageTold = true
    }
}
