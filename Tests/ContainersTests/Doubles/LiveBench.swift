import Bitstream
import Glibc
import CamNetworking
import Synchronization
import CamPlatform
@testable import CamDelivery

/// A live output's loop, driven round by round by the test, with receivers over socket pairs and a scripted
/// clock.
final class LiveBench {
    let buffer: BroadcastBuffer
    /// Packets of sound after each frame.
    var soundsPerFrame = 0
    let ledger: ReceiverLedger
    let source: ScriptedSource
    let loop: BroadcastLoop
    let log = EventLog()
    var now = Instant.start
    private(set) var frameNumber = 0
    private let keyframeInterval: Int
    private var isForced = false

    /// Frames arrive 30 a second.
    static let frameDuration = Duration.nanoseconds(33_333_333)

    init(
        buffer limit: LiveOptions.Buffer = .time(.seconds(2)), mostReceivers: Int = 16,
        keyframeInterval: Int = 10,
        keyframeSeconds: Double? = nil, mostDeparted: Int = 256, mostPerAddress: Int? = nil,
        startsAtLatestKeyframe: Bool = false, descriptorEnd: Int = .max
    ) throws {
        var options = LiveOptions()
        options.buffer = limit
        (options.mostReceivers, options.descriptorEnd) = (mostReceivers, descriptorEnd)
        options.mostPerAddress = mostPerAddress
        options.startsAtLatestKeyframe = startsAtLatestKeyframe
        options.keyframeInterval = keyframeSeconds.map { .seconds($0) } ?? .frames(keyframeInterval)
        options.frameDuration = Self.frameDuration
        self.keyframeInterval = keyframeInterval
        buffer = BroadcastBuffer(limit: limit)
        ledger = ReceiverLedger(mustBeTaken: startsAtLatestKeyframe, mostDeparted: mostDeparted)
        source = try ScriptedSource()
        let log = log
        loop = try BroadcastLoop(
            source: source, buffer: buffer, wakeUp: EventFD(), ledger: ledger, options: options,
            requestKeyframe: { log.keyframeRequests.wrappingAdd(1, ordering: .relaxed) },
            report: { log.append($0) }, start: .start)
    }

    /// Lets a receiver connect, in a separate round.
    /// - Parameters:
    ///   - origin: what its address counts as; nil if that is not limited.
    ///   - isTCP: whether its system confirms what arrives.
    func connect(from origin: UInt64? = nil, isTCP: Bool = false) throws -> Peer {
        let peer = try announce(from: origin, isTCP: isTCP)
        round()
        return peer
    }

    /// Lets a receiver connect with the next round.
    func announce(from origin: UInt64? = nil, isTCP: Bool = false) throws -> Peer {
        let (near, peer) = try isTCP ? Peer.connection() : Peer.pair()
        source.arrivals.append((near, origin))
        source.wakeUp.wake()
        return peer
    }

    /// A frame passes, and a round of the loop.
    /// - Parameters:
    ///   - isIDR: nil to follow the regular keyframes.
    ///   - duration: the time since the previous frame.
    @discardableResult func frame(
        length: Int = 1000, isIDR: Bool? = nil, after duration: Duration = LiveBench.frameDuration
    ) -> AccessUnit {
        let unit = accessUnit(
            length: length, isIDR: isIDR ?? frameNumber.isMultiple(of: keyframeInterval),
            frameNumber: frameNumber)
        frameNumber += 1
        now += duration
        buffer.append(unit, at: now)
        for _ in 0..<soundsPerFrame { buffer.append(nil, framed: FramedUnit(bytes: [1, 2, 3]), at: now) }
        round()
        return unit
    }

    func frames(_ count: Int, length: Int = 1000) -> [AccessUnit] {
        (0..<count).map { _ in frame(length: length) }
    }

    /// Handles everything that has happened so far.
    @discardableResult func round() -> Bool {
        loop.wait(until: .distantPast)
        return loop.proceed(at: now)
    }

    var receivers: [ReceiverStatistics] { ledger.content.receivers }
    var events: [LiveEvent] { log.events }
    var keyframeRequests: Int { log.keyframeRequests.load(ordering: .relaxed) }
}

/// Receivers that connect when a test lets them.
final class ScriptedSource: ReceiverSource {
    let wakeUp: EventFD
    var arrivals: [(descriptor: Int32, origin: UInt64?)] = []
    /// Sent to each after the stream's end.
    var farewell: [UInt8] = []
    /// Passes on what each is sent.
    var relay: Relay?
    /// Reported instead of the next arrivals.
    var exhaustion: Int32?
    private(set) var departures = 0
    private(set) var isStopped = false

    init() throws(NetworkError) { wakeUp = try EventFD() }

    var descriptor: Int32 { wakeUp.descriptor }

    func next() -> Arrival {
        wakeUp.sleep()
        if let code = exhaustion.take() { return .exhausted(errno: code) }
        guard !arrivals.isEmpty else { return .noneWaiting }
        let arrival = arrivals.removeFirst()
        return .receiver(
            Connection(
                socket: Socket(adopting: arrival.descriptor), peer: "peer", origin: arrival.origin,
                farewell: farewell, relay: relay))
    }

    func receiverLeft() { departures += 1 }
    func stop() { isStopped = true }
}

/// The other end of a receiver's connection.
final class Peer {
    private(set) var descriptor: Int32

    /// A descriptor for the sender, and its peer.
    static func pair() throws -> (Int32, Peer) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw NetworkError(.noResources(errno: errno), address: "pair")
        }
        return (ends[0], Peer(ends[1]))
    }

    /// The same over TCP, whose peers confirm what arrives.
    static func connection() throws -> (Int32, Peer) {
        let listener = try Listener(SocketAddress(port: 0))
        guard let address = SocketAddress(listener.address.description) else {
            throw NetworkError(.noResources(errno: 0), address: "pair")
        }
        let far = try Socket.connect(to: address, timeout: .seconds(10))
        guard case .connection(let near, _) = listener.accept() else {
            throw NetworkError(.noResources(errno: 0), address: "pair")
        }
        return (dup(near.descriptor), Peer(dup(far.descriptor)))
    }

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { leave() }

    /// As much as a slow receiver reads: this many bytes, or what has arrived.
    func sip(_ count: Int) {
        var room = [UInt8](repeating: 0, count: count)
        recv(descriptor, &room, count, Int32(MSG_DONTWAIT))
    }

    /// Everything that has arrived.
    func read() -> [UInt8] {
        var (bytes, room) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = recv(descriptor, &room, room.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return bytes }
            bytes += room[..<count]
        }
    }

    /// Whether the stream has ended and everything was read.
    var hasEnded: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }

    /// Stops sending, but still reads.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    func say(_ text: String) { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// Bytes that it said and the sender has not read.
    var unread: Int {
        var count: Int32 = 0
        _ = ioctl(descriptor, UInt(TIOCOUTQ), &count)
        return Int(count)
    }

    func leave() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}

/// The events that a live output reported.
final class EventLog: @unchecked Sendable {
    // Safe to share: the list is touched with the lock held.
    private let monitor = Monitor()
    private var told: [LiveEvent] = []
    let keyframeRequests = Atomic<Int>(0)

    func append(_ event: LiveEvent) { monitor.withLock { told.append(event) } }
    var events: [LiveEvent] { monitor.withLock { told } }
}
