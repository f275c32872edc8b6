import CLinux
import Glibc
import CamPlatform

/// Looks up a host on a separate thread: the name service may be slow, and `getaddrinfo` cannot be cancelled.
final class NameLookup: @unchecked Sendable {
    // Safe to share: the result is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let wakeUp: WakeUp
    private var found: Result<[ResolvedAddress], NetworkError>?

    private init() throws(NetworkError) { wakeUp = try WakeUp() }

    /// Returns the addresses of a host to connect to.
    /// - Parameter interruption: ends the wait.
    static func addresses(
        of address: SocketAddress, interruption: Interruption
    ) throws(NetworkError) -> [ResolvedAddress] {
        if let numeric = try? ResolvedAddress.addresses(of: address, isListening: false, isNumeric: true) {
            return numeric
        }
        let lookup = try NameLookup()
        guard let thread = WorkerThread(body: { lookup.run(address) }) else {
            throw NetworkError(.noResources(errno: EAGAIN), address: "\(address)")
        }
        // If nobody is waiting for it any more, it ends by itself.
        thread.detach()
        _ = interruption.wait(for: lookup.wakeUp.descriptor)
        guard let found = lookup.monitor.withLock({ lookup.found }) else {
            throw NetworkError(.interrupted, address: "\(address)")
        }
        return try found.get()
    }

    private func run(_ address: SocketAddress) {
        let result: Result<[ResolvedAddress], NetworkError>
        do throws(NetworkError) {
            result = .success(try ResolvedAddress.addresses(of: address, isListening: false))
        } catch { result = .failure(error) }
        monitor.withLock { found = result }
        wakeUp.wake()
    }
}
