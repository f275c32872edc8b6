import Glibc
import Network
import Threading
import Time

/// Connects to an output's only receiver, and reconnects with pauses that grow from a quarter of a second to eight
/// seconds until a connection has lasted for a second.
///
/// Names are resolved and connections awaited on a separate thread, so that neither blocks other work.
final class DialingSource: ReceiverSource, @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let address: SocketAddress
    private let monitor = Monitor()
    private let wakeUp: WakeUp
    private let interruption: Interruption
    private var state = State.wanted
    private var arrived: Socket?
    private var failure: NetworkError?
    private var thread: WorkerThread?

    private enum State { case wanted, connected, stopped }

    private static let attemptTimeout = Duration.seconds(5)
    private static let longestPause = Duration.seconds(8)

    /// Starts connecting.
    init(_ address: SocketAddress) throws(NetworkError) {
        self.address = address
        wakeUp = try WakeUp()
        guard let interruption = Interruption() else {
            throw NetworkError(.noResources(errno: EMFILE), address: "\(address)")
        }
        self.interruption = interruption
        thread = WorkerThread { [self] in run() }
        guard thread != nil else { throw NetworkError(.noResources(errno: EAGAIN), address: "\(address)") }
    }

    var descriptor: Int32 { wakeUp.descriptor }

    func next() -> Arrival {
        wakeUp.sleep()
        return monitor.withLock {
            if let socket = arrived.take() { return .receiver(socket, peer: "\(address)", origin: nil) }
            if let error = failure.take() { return .unreachable(error) }
            return .nobody
        }
    }

    func receiverLeft() {
        monitor.withLock {
            guard state == .connected else { return }
            state = .wanted
            monitor.signal()
        }
    }

    func stop() {
        monitor.withLock {
            state = .stopped
            monitor.signal()
        }
        interruption.raise()
        // Name resolution may take too long to wait for; the thread ends after it.
        if let thread = thread.take() { thread.detach() }
    }

    private func run() {
        var backOff = BackOff(longest: Self.longestPause)
        while waitUntilWanted() {
            do throws(NetworkError) {
                let socket = try Socket.connect(
                    to: address, timeout: Self.attemptTimeout, interruption: interruption)
                let start = Instant.now
                guard deliver(socket) else { return }
                guard waitUntilWanted() else { return }
                backOff.noteSuccess(lasting: .now - start)
            } catch {
                report(error)
            }
            guard waits(until: .now + backOff.next()) else { return }
        }
    }

    /// - Returns: false if the output has ended.
    private func waitUntilWanted() -> Bool {
        monitor.withLock {
            while state == .connected { monitor.wait() }
            return state == .wanted
        }
    }

    private func waits(until deadline: Instant) -> Bool {
        monitor.withLock {
            while state == .wanted, Instant.now < deadline { monitor.wait(until: deadline) }
            return state == .wanted
        }
    }

    private func deliver(_ socket: consuming Socket) -> Bool {
        var socket: Socket? = socket
        let isWanted = monitor.withLock {
            guard state == .wanted else { return false }
            state = .connected
            arrived = socket.take()
            return true
        }
        wakeUp.wake()
        return isWanted
    }

    private func report(_ error: NetworkError) {
        monitor.withLock { failure = error }
        wakeUp.wake()
    }
}
