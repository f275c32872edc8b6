import CLinux
import CamPlatform
import Glibc

/// A system address: IPv4, IPv6 or a UNIX socket.
package struct ResolvedAddress: Sendable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    private var length: socklen_t

    /// Creates an address that a system call writes, given memory for the address and the length of that
    /// memory.
    init(_ body: (UnsafeMutablePointer<sockaddr_storage>, UnsafeMutablePointer<socklen_t>) -> Void) {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        body(&storage, &length)
    }

    /// A path in the file system; nil if it is empty or longer than the system allows.
    init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isPath = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard !bytes.isEmpty, bytes.count < room.count, !bytes.contains(0) else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard isPath else { return nil }
        length = socklen_t(MemoryLayout<sockaddr_un>.size)
        withUnsafeMutableBytes(of: &storage) { room in
            withUnsafeBytes(of: address) { room.copyMemory(from: $0) }
        }
    }

    /// A name in the abstract namespace (unix(7)), without the leading zero byte; nil if it is empty or
    /// longer than the system allows.
    init?(abstractName: String) {
        guard !abstractName.contains("\0"), let named = ResolvedAddress(path: "@\(abstractName)"),
            !abstractName.isEmpty
        else { return nil }
        self = named
        let start = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 0
        withUnsafeMutableBytes(of: &storage) { $0[start] = 0 }
        // Every byte of the length belongs to the name.
        length = socklen_t(start + 1 + abstractName.utf8.count)
    }

    /// Looks up a host. May wait for the name service for an unlimited time.
    /// - Parameters:
    ///   - isListening: whether the address is for a listening socket.
    ///   - isNumeric: whether to skip names; the call then never waits.
    /// - Returns: at least one address, in the system's order of preference.
    static func addresses(
        of address: SocketAddress, isListening: Bool, isNumeric: Bool = false
    ) throws(NetworkError) -> [ResolvedAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (isListening ? AI_PASSIVE : 0) | (isNumeric ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(address.host, "\(address.port)", &hints, &list)
        guard result == 0 else {
            let reason = String(cString: gai_strerror(result))
            // For EAI_SYSTEM, errno would be about sockets and files, not about the name.
            let isUnavailable = [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY].contains(result)
            throw NetworkError(
                isUnavailable ? .noNameService(reason) : .unknownHost(reason), address: "\(address)")
        }
        defer { freeaddrinfo(list) }
        var addresses: [ResolvedAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let source = entry.pointee.ai_addr,
                entry.pointee.ai_addrlen <= socklen_t(MemoryLayout<sockaddr_storage>.size)
            else { continue }
            addresses.append(
                ResolvedAddress { storage, length in
                    length.pointee = entry.pointee.ai_addrlen
                    memcpy(storage, source, Int(entry.pointee.ai_addrlen))
                })
        }
        guard !addresses.isEmpty else {
            throw NetworkError(.unknownHost("it has no address"), address: "\(address)")
        }
        return addresses
    }

    /// `AF_INET`, `AF_INET6` or `AF_UNIX`.
    var family: Int32 { Int32(storage.ss_family) }

    /// Whether only this machine can reach it: 127.0.0.0/8, ::1, a UNIX socket.
    package var isLoopback: Bool {
        switch family {
        case AF_INET: return bytes(at: MemoryLayout.offset(of: \sockaddr_in.sin_addr), count: 4).first == 127
        case AF_INET6:
            let bytes = bytes(at: MemoryLayout.offset(of: \sockaddr_in6.sin6_addr), count: 16)
            let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127]
            return bytes.starts(with: mapped) || bytes == Array(repeating: 0, count: 15) + [1]
        default: return true
        }
    }

    private func bytes(at offset: Int?, count: Int) -> [UInt8] {
        guard let offset else { return [] }
        return withUnsafeBytes(of: storage) { Array($0[offset..<offset + count]) }
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Identifies connections that count together: those from an IPv4 address, or from the /64 network of an
    /// IPv6 address. Nil for this machine, because all clients of a tunnel have the same address.
    package var origin: UInt64? {
        guard !isLoopback else { return nil }
        switch family {
        case AF_INET:
            return Self.number(bytes(at: MemoryLayout.offset(of: \sockaddr_in.sin_addr), count: 4)[...])
        case AF_INET6:
            let bytes = bytes(at: MemoryLayout.offset(of: \sockaddr_in6.sin6_addr), count: 16)
            // The address of an IPv4 peer on an IPv6 socket (RFC 4291, 2.5.5.2).
            let isMapped = bytes.starts(with: Array(repeating: 0, count: 10) + [0xff, 0xff])
            return Self.number(isMapped ? bytes[12...] : bytes[..<8])
        default: return nil
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// `127.0.0.1:9982`, `[::1]:9982`; an IPv4 peer of an IPv6 socket is shown as IPv4.
    package var description: String {
        guard family != AF_UNIX else { return "local" }
        var (host, service) = (
            [CChar](repeating: 0, count: Int(NI_MAXHOST)), [CChar](repeating: 0, count: Int(NI_MAXSERV))
        )
        let result = withSocketAddress {
            getnameinfo(
                $0, $1, &host, socklen_t(host.count), &service, socklen_t(service.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard result == 0 else { return "unknown" }
        let (name, port) = (Self.text(host), Self.text(service))
        let mapped = "::ffff:"
        if name.hasPrefix(mapped), name.contains(".") { return "\(name.dropFirst(mapped.count)):\(port)" }
        return name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
    }
}

// MARK: Name service

/// Looks up a host on a separate thread: the name service may be slow, and `getaddrinfo` cannot be cancelled.
final class NameLookup: @unchecked Sendable {
    // Safe to share: the result is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let wakeUp: EventFD
    private var found: Result<[ResolvedAddress], NetworkError>?

    private init() throws(NetworkError) { wakeUp = try EventFD() }

    /// Returns the addresses of a host to connect to.
    /// - Parameter cancellation: ends the wait.
    static func addresses(
        of address: SocketAddress, cancellation: CancellationFlag
    ) throws(NetworkError) -> [ResolvedAddress] {
        if let numeric = try? ResolvedAddress.addresses(of: address, isListening: false, isNumeric: true) {
            return numeric
        }
        let lookup = try NameLookup()
        guard let thread = WorkerThread(body: { lookup.run(address) }) else {
            throw NetworkError(.noResources(errno: EAGAIN), address: "\(address)")
        }
        // The thread outlives an interrupted wait, and ends after the lookup.
        thread.detach()
        _ = cancellation.wait(for: lookup.wakeUp.descriptor)
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
