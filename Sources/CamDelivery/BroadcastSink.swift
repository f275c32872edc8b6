import Bitstream
import CamNetworking
import CamPlatform
import CamSound
import Glibc
import Containers

/// Sends a stream to any number of receivers over TCP, without delay: raw Annex B, or framed.
///
/// Receivers connect to a port, or the sink connects to one. Writing hands over an access unit and never
/// blocks: the sink's own thread serves all receivers with epoll, and no receiver affects another. A
/// receiver's first unit is an IDR, which carries the parameter sets; one that lags by more than its buffer
/// skips to the next IDR; one that reads nothing for too long is disconnected.
///
/// Uses epoll, not SwiftNIO, because every receiver is sent the same storage, and raw streams even the access unit's own:
/// nothing is copied or allocated per receiver, and start-up costs nothing.
package final class BroadcastSink: AccessUnitSink, @unchecked Sendable {
    // Safe to share: `thread`, `framing` and `framedUnits` belong to the writer; everything else is constant and
    // thread-safe.
    package let name: String
    /// Whether other machines can connect.
    package let isOpenToNetwork: Bool
    private let buffer: BroadcastBuffer
    private let wakeUp: EventFD
    private let ledger: ReceiverLedger
    private var thread: WorkerThread?
    /// Nil for raw Annex B.
    private let framing: (any LiveFraming)?
    private var framedUnits = FramedUnitPool()
    /// Describes the stream to a server, which must know it in advance; nil for other receivers.
    private let announcement: StreamAnnouncement?

    /// A container, which gives receivers the pictures' times.
    package struct LiveContainer {
        let format: ContainerFormat
        let stream: StreamDescription

        /// - Parameter format: a transport stream or Matroska.
        package init(_ format: ContainerFormat, stream: StreamDescription) {
            (self.format, self.stream) = (format, stream)
        }

        fileprivate func framing(for name: String) throws(OutputError) -> any LiveFraming {
            try ContainerFraming(format, stream: stream, name: name)
        }
    }

    /// Listens on an address.
    /// - Parameters:
    ///   - container: nil for raw Annex B.
    ///   - requestKeyframe: makes the next frame an IDR; called on the sink's thread.
    ///   - report: receives events, on the sink's thread.
    package convenience init(
        listeningOn address: ListeningAddress, options: LiveOptions, container: LiveContainer? = nil,
        requestKeyframe: @escaping @Sendable () -> Void, report: @escaping @Sendable (LiveEvent) -> Void
    ) throws(OutputError) {
        let framing = try container.map { (container) throws(OutputError) in
            try container.framing(for: "\(address)")
        }
        do throws(NetworkError) {
            let (source, name, isOpen) = try Self.source(address)
            try self.init(
                source: source, name: name, isOpenToNetwork: isOpen, mustBeTaken: false, options: options,
                framing: framing, requestKeyframe: requestKeyframe, report: report)
        } catch { throw OutputError(.network(error), output: "\(address)") }
    }

    private static func source(
        _ address: ListeningAddress
    ) throws(NetworkError) -> (any ReceiverSource, name: String, isOpenToNetwork: Bool) {
        switch address {
        case .tcp(let address):
            let listener = try Listener(address)
            let local = listener.address
            return (ListeningSource(listener), local.description, !local.isLoopback)
        case .path(let path, let mode):
            return (PathListeningSource(try PathListener(path: path, mode: mode)), "\(address)", false)
        }
    }

    /// Connects to an address, and reconnects whenever the connection breaks; until then the stream is lost.
    /// - Parameters:
    ///   - container: nil for raw Annex B.
    ///   - requestKeyframe: makes the next frame an IDR; called on the sink's thread.
    ///   - report: receives events, on the sink's thread.
    package convenience init(
        connectingTo address: SocketAddress, options: LiveOptions, container: LiveContainer? = nil,
        requestKeyframe: @escaping @Sendable () -> Void, report: @escaping @Sendable (LiveEvent) -> Void
    ) throws(OutputError) {
        let framing = try container.map { (container) throws(OutputError) in
            try container.framing(for: "tcp://\(address)")
        }
        var options = options
        options.mostReceivers = 1
        do throws(NetworkError) {
            try self.init(
                source: DialingSource(address), name: "tcp://\(address)", isOpenToNetwork: false,
                mustBeTaken: true, options: options, framing: framing, requestKeyframe: requestKeyframe,
                report: report)
        } catch { throw OutputError(.network(error), output: "tcp://\(address)") }
    }

    /// Sends the stream, in a transport stream, over SRT or UDP; reconnects as over TCP.
    /// - Parameters:
    ///   - passphrase: for a URL that wants one.
    ///   - requestKeyframe: makes the next frame an IDR; called on the sink's thread.
    ///   - report: receives events, on the sink's thread.
    package convenience init(
        sendingTo url: StreamURL, passphrase: String?, stream: StreamDescription, options: LiveOptions,
        requestKeyframe: @escaping @Sendable () -> Void, report: @escaping @Sendable (LiveEvent) -> Void
    ) throws(OutputError) {
        var options = options
        options.mostReceivers = 1
        options.startsAtLatestKeyframe = true
        let timeout = options.timeout
        // If the URL wants a passphrase, the stream is never sent unencrypted.
        let secret = url.wantsPassphrase ? passphrase ?? "" : url.givenPassphrase
        if let secret, !StreamURL.passphraseLengths.contains(secret.utf8.count) {
            throw OutputError(.network(NetworkError(.badPassphrase, address: "\(url)")), output: "\(url)")
        }
        let framing = try ContainerFraming(.transportStream, stream: stream, name: "\(url)")
        do throws(NetworkError) {
            try self.init(
                source: DialingSource("\(url)") { (cancellation) throws(NetworkError) in
                    try Connection(
                        to: url, passphrase: secret, timeout: timeout, cancellation)
                },
                name: "\(url)", isOpenToNetwork: false, mustBeTaken: true, options: options,
                framing: framing, requestKeyframe: requestKeyframe, report: report)
        } catch { throw OutputError(.network(error), output: "\(url)") }
    }

    /// Publishes the stream on an RTSP server, again whenever the connection breaks; until then the stream is lost.
    /// - Parameters:
    ///   - password: for the address's user; nil for none.
    ///   - trust: the certificates that an encrypted connection trusts; nil for an unencrypted connection.
    ///   - sound: the sound sent with the pictures; nil for none.
    ///   - requestKeyframe: makes the next frame an IDR; called on the sink's thread.
    ///   - report: receives events, on the sink's thread.
    package convenience init(
        publishingTo address: RTSPAddress, password: String?, trust: TLSTrust?, codec: Codec,
        sound: SoundDescription? = nil, options: LiveOptions,
        requestKeyframe: @escaping @Sendable () -> Void, report: @escaping @Sendable (LiveEvent) -> Void
    ) throws(OutputError) {
        var options = options
        options.mostReceivers = 1
        options.startsAtLatestKeyframe = true
        var random = SystemRandomNumberGenerator()
        let framing = RTPFraming(codec: codec, sound: sound, using: &random)
        let (goodbye, patience) = (framing.goodbye, options.timeout)
        do throws(NetworkError) {
            let announcement = try StreamAnnouncement(sound: sound)
            try self.init(
                source: DialingSource("\(address)") { (cancellation) throws(NetworkError) in
                    var connection = try Connection(
                        publishing: announcement, to: address, password: password, trust: trust,
                        patience: patience, cancellation)
                    connection.farewell.insert(contentsOf: goodbye, at: 0)
                    return connection
                },
                name: "\(address)", isOpenToNetwork: false, mustBeTaken: true, options: options,
                framing: framing, announcement: announcement,
                requestKeyframe: requestKeyframe, report: report)
        } catch { throw OutputError(.network(error), output: "\(address)") }
    }

    init(
        source: any ReceiverSource, name: String, isOpenToNetwork: Bool, mustBeTaken: Bool,
        options: LiveOptions, framing: (any LiveFraming)? = nil, announcement: StreamAnnouncement? = nil,
        requestKeyframe: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (LiveEvent) -> Void
    ) throws(NetworkError) {
        self.name = name
        self.isOpenToNetwork = isOpenToNetwork
        self.framing = framing
        self.announcement = announcement
        ledger = ReceiverLedger(mustBeTaken: mustBeTaken)
        buffer = BroadcastBuffer(limit: options.buffer)
        do throws(NetworkError) {
            wakeUp = try EventFD()
            let loop = UncheckedTransfer(
                try BroadcastLoop(
                    source: source, buffer: buffer, wakeUp: wakeUp, ledger: ledger, options: options,
                    requestKeyframe: requestKeyframe, report: report))
            thread = WorkerThread { loop.value.run() }
            guard thread != nil else { throw NetworkError(.noResources(errno: EAGAIN), address: name) }
        } catch {
            source.stop()
            throw error
        }
    }

    deinit { stop() }

    package var identity: FileIdentity? { nil }

    package var receivers: ReceiverLedger { ledger }

    package func write(_ unit: AccessUnit) throws(OutputError) {
        if unit.isIDR { announcement?.note(unit) }
        var framed: FramedUnit?
        if let framing { framed = try framedUnits.make(unit, with: framing) }
        buffer.append(unit, framed: framed, at: .now)
        wakeUp.wake()
    }

    package var takesSound: Bool { framing?.takesSound == true }

    package func write(_ sound: SoundPacket) throws(OutputError) {
        guard let framing else { return }
        let framed = try framedUnits.make(sound, with: framing)
        guard !framed.bytes.isEmpty else { return }
        buffer.append(nil, framed: framed, at: .now)
        wakeUp.wake()
    }

    /// Each IDR carries the parameter sets that receivers need, but not every
    /// container allows them to change.
    package func beginStream(_ description: StreamDescription) throws(OutputError) {
        try framing?.beginStream()
    }

    /// Gives the receivers three seconds to read the rest, and disconnects them.
    package func finish() throws(OutputError) {
        stop()
        // An output that connects to its receiver and never reached it has failed.
        guard ledger.mustBeTaken, ledger.taken.units == 0 else { return }
        throw OutputError(.notTaken(because: ledger.latestFailure), output: name)
    }

    private func stop() {
        buffer.finish()
        wakeUp.wake()
        if let thread = thread.take() { thread.join() }
    }
}

// MARK: - Options

/// How a live output serves its receivers.
package struct LiveOptions: Sendable, Hashable {
    /// The most receivers at a time, at least 1; an output that connects has one.
    package var mostReceivers = 16
    /// The most receivers from one address at a time; nil for half of all places.
    package var mostPerAddress: Int?
    /// How far a receiver may lag before it must wait for the next IDR.
    package var buffer = Buffer.time(.seconds(2))
    /// How long a receiver may stall before it is disconnected; at least a second.
    package var timeout = Duration.seconds(10)
    /// Receivers use only descriptors below this one; files and cameras need the others.
    package var descriptorEnd = Int.max
    /// Whether a receiver begins with the latest buffered IDR instead of the next one: for servers, which
    /// know each picture's time.
    var startsAtLatestKeyframe = false
    /// The interval between regular keyframes.
    var keyframeInterval = KeyframeInterval.frames(1)
    /// The nominal time between frames.
    var frameDuration = Duration.milliseconds(40)

    /// A limit on the data that waits to be sent.
    package enum Buffer: Sendable, Hashable {
        case time(Duration)
        case bytes(Int)
    }

    /// Sixteen receivers, two seconds of buffer, a timeout of ten.
    package init() {}

    /// Adopts a stream's frame rate and keyframe interval.
    /// - Parameter keyframeInterval: the interval between regular keyframes.
    package mutating func follow(_ stream: StreamDescription, keyframeInterval: KeyframeInterval) {
        frameDuration = stream.frameDuration
        self.keyframeInterval = keyframeInterval
    }
}
