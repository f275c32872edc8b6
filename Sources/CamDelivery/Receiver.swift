import Bitstream
import CamNetworking
import CamPlatform
import Glibc

/// One connection of a live output, with its place in the stream and its statistics. Used by one thread at a
/// time: the output's thread, or a thread of its crew.
///
/// Units are sent from storage that all receivers share. A unit whose first byte was sent is sent completely.
final class Receiver {
    /// Its number in the ledger.
    let id: Int
    let socket: Socket
    /// Identifies the peer's address; nil if connections per address are not limited.
    let origin: UInt64?
    /// Sent after the stream's end.
    private let farewell: [UInt8]
    /// Passes the stream on; nil if the socket is the peer's.
    private let relay: Relay?
    private(set) var statistics: ReceiverStatistics
    /// Whether it received an IDR. From then on, units that it does not get count as dropped.
    private(set) var hasStarted = false
    /// Whether the system accepts more, as far as is known.
    private var isWritable = true
    /// When the system stopped accepting data; nil while it accepts data.
    private(set) var blockedSince: Instant?
    /// When it first overflowed; nil once it has caught up, some seconds after its latest overflow.
    private var overflowedSince: Instant?
    private var latestOverflow = Instant.distantPast
    /// Bytes not all confirmed by the peer's system, and since when.
    private var unconfirmed: (count: Int, since: Instant)?
    private var latestLook = Instant.distantPast
    private var gate = KeyframeGate()
    private let repeatedEnd: Int
    /// The number of the unit after `current`.
    private(set) var position: Int
    /// How many pictures came before that one.
    private var picturesBefore: Int
    /// The unit being sent, and how much of it has been sent.
    private var current: BroadcastBuffer.Entry?
    private var offset = 0
    /// Bytes to be sent before `current`.
    private var prologue: ArraySlice<UInt8> = []

    /// How long without an overflow counts as having caught up.
    private static let steadyTime = Duration.seconds(2)

    /// The interval between checks of what the peer's system has confirmed.
    private static let lookInterval = Duration.seconds(1)

    /// Bytes sent when the peer ended its half of the connection; nil before that.
    private var bytesAtEnd: Int?

    /// The bytes that the relay had passed on before.
    private let relayStart: Int
    /// Whether everything was sent, with the farewell.
    private var hasFinished = false
    /// Why nothing more can be sent, as errno; nil as long as it can.
    private(set) var sendingFailure: Int32?
    /// Why the connection broke, as errno, if an earlier call reported it.
    private var breakage: Int32?

    /// - Parameters:
    ///   - position: the number of its first unit.
    ///   - picturesBefore: how many pictures came before that unit.
    ///   - repeatedEnd: the number of the first unit that no earlier receiver has got.
    init(
        id: Int, _ connection: consuming Connection, statistics: ReceiverStatistics, position: Int,
        picturesBefore: Int, repeatedEnd: Int = 0
    ) {
        self.id = id
        origin = connection.origin
        farewell = connection.farewell
        relay = connection.relay
        relayStart = relay?.confirmedByteCount ?? 0
        socket = connection.socket
        self.statistics = statistics
        (self.position, self.picturesBefore) = (position, picturesBefore)
        self.repeatedEnd = repeatedEnd
    }

    /// Notes that the system accepts more.
    func becomeWritable() {
        isWritable = true
        blockedSince = nil
    }

    /// Notes that the peer sends no more. It may have left, or may still receive.
    func peerEnded() { bytesAtEnd = bytesAtEnd ?? statistics.bytes }

    /// Whether the peer ended its half and nothing was sent since: the next send would show whether it left.
    var mayBeGone: Bool { bytesAtEnd == statistics.bytes }

    /// Discards data from the peer: it has no meaning, but unread data would block the peer eventually.
    func discardReceived() { breakage = socket.discardReceived() ?? breakage }

    /// Returns why it left.
    /// - Parameter code: errno of the call that showed it; nil if none did.
    func departure(for code: Int32? = nil) -> ReceiverStatistics.Departure {
        if let failure = relay?.failure { return ReceiverStatistics.Departure(failure) }
        if relay != nil, hasFinished { return .ended }
        guard let code = code ?? socket.takeError() ?? breakage else { return .closed }
        // A peer that closes a connection announces it first, and then refuses data.
        let isRefusal = code == ECONNRESET || code == EPIPE
        return isRefusal && bytesAtEnd != nil ? .closed : .broken(errno: code)
    }

    /// Bytes that the peer may not have got.
    private var unconfirmedByteCount: Int {
        let count =
            relay.map { statistics.bytes - max(0, $0.confirmedByteCount - relayStart) }
            ?? socket.unconfirmedByteCount
        // Count only the stream: not the farewell, and not the end, which TCP counts as a byte.
        return max(0, count - (hasFinished && relay == nil ? farewell.count + 1 : 0))
    }

    /// Returns whether the system has accepted everything available.
    func isIdle(in window: BroadcastBuffer.Window) -> Bool {
        current == nil && position >= window.range.upperBound
    }

    /// Drops the pending units if some of them have left the buffer.
    /// - Returns: whether it newly overflowed.
    func dropIfOverflowed(_ window: BroadcastBuffer.Window, at now: Instant) -> Bool {
        guard position < window.range.lowerBound else { return false }
        noteLag(at: now)
        let isLate = gate.isOpen
        if isLate, current != nil, offset == 0 {
            if current?.isPicture == true { statistics.dropped += 1 }
            current = nil
        }
        drop(window.pictureCount - picturesBefore)
        (position, picturesBefore) = (window.range.upperBound, window.pictureCount)
        gate.close()
        (overflowedSince, latestOverflow) = (overflowedSince ?? now, now)
        return isLate
    }

    /// Returns since when it has lagged, or nil if it does not.
    func lateSince(at now: Instant) -> Instant? {
        lookAtConfirmation(at: now)
        return [overflowedSince, unconfirmed?.since].compactMap { $0 }.min()
    }

    /// Checks the peer's confirmations, because the system's buffers can hold more than a minute of a low-rate
    /// stream and hide a peer that hardly reads.
    private func lookAtConfirmation(at now: Instant) {
        latestLook = now
        let confirmed = statistics.bytes - unconfirmedByteCount
        if let unconfirmed, confirmed >= unconfirmed.count { self.unconfirmed = nil }
        if unconfirmed == nil, confirmed < statistics.bytes { unconfirmed = (statistics.bytes, now) }
    }

    /// Sends what is available until the system accepts no more.
    func send(from buffer: BroadcastBuffer, at now: Instant) {
        // Note the lag of a unit that is still waiting, whether or not it can be sent now.
        noteLag(at: now)
        skip(in: buffer)
        while isWritable, let entry = current ?? next(in: buffer) {
            let sending =
                prologue.isEmpty
                ? entry.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
                : prologue.withUnsafeBytes { socket.send($0) }
            switch sending {
            case .sent(let byteCount) where !prologue.isEmpty:
                blockedSince = nil
                statistics.bytes += byteCount
                prologue = prologue.dropFirst(byteCount)
            case .sent(let byteCount): count(sent: byteCount, of: entry, at: now)
            case .full:
                isWritable = false
                blockedSince = blockedSince ?? now
            case .exhausted:
                blockedSince = blockedSince ?? now
                return
            case .broken(let code):
                sendingFailure = code
                return
            }
        }
        // Skipping from keyframe to keyframe is not catching up.
        if isWritable, gate.isOpen, now - latestOverflow >= Self.steadyTime { overflowedSince = nil }
        if now - latestLook >= Self.lookInterval { lookAtConfirmation(at: now) }
    }

    private func count(sent byteCount: Int, of entry: BroadcastBuffer.Entry, at now: Instant) {
        blockedSince = nil
        statistics.bytes += byteCount
        offset += byteCount
        guard offset == entry.count else { return }
        statistics.units += entry.isPicture ? 1 : 0
        if entry.isIDR { statistics.keyframes += 1 }
        if position <= repeatedEnd { noteRepeated(entry) }
        noteLag(at: now)
        current = nil
    }

    private func noteRepeated(_ entry: BroadcastBuffer.Entry) {
        statistics.repeated.units += entry.isPicture ? 1 : 0
        statistics.repeated.keyframes += entry.isIDR ? 1 : 0
        statistics.repeated.bytes += entry.count
    }

    /// The number of the first unit that it has not got completely.
    var firstPending: Int { current == nil ? position : position - 1 }

    /// How many pictures came before the first that it has not got completely.
    var passedPictures: Int { picturesBefore - (current?.isPicture == true ? 1 : 0) }

    /// Notes the lag of the unit being sent.
    private func noteLag(at now: Instant) {
        guard let current else { return }
        statistics.longestLag = max(statistics.longestLag, now - current.arrival)
    }

    /// Skips units that the gate rejects, even while the rest of an earlier unit waits to be sent.
    private func skip(in buffer: BroadcastBuffer) {
        while !gate.isOpen, let entry = buffer[position] {
            if let unit = entry.unit, gate.admits(isKeyframe: unit.isIDR) {
                if !hasStarted { prologue = entry.framed?.prologue[...] ?? [] }
                hasStarted = true
                return
            }
            drop(entry.isPicture ? 1 : 0)
            advance(past: entry)
        }
    }

    private func next(in buffer: BroadcastBuffer) -> BroadcastBuffer.Entry? {
        skip(in: buffer)
        guard gate.isOpen, let entry = buffer[position] else { return nil }
        advance(past: entry)
        (current, offset) = (entry, 0)
        return entry
    }

    private func advance(past entry: BroadcastBuffer.Entry) {
        position += 1
        picturesBefore += entry.isPicture ? 1 : 0
    }

    private func drop(_ count: Int) {
        if hasStarted { statistics.dropped += count }
    }

    /// Ends the connection.
    /// - Parameters:
    ///   - window: the buffered units, of which those not received are lost.
    ///   - elapsed: the time since the output began.
    func leave(
        _ departure: ReceiverStatistics.Departure, _ window: BroadcastBuffer.Window, at elapsed: Duration,
        now: Instant
    ) {
        noteLag(at: now)
        if departure == .cutOff {
            drop(window.pictureCount - picturesBefore + (current?.isPicture == true ? 1 : 0))
        }
        statistics.left = elapsed
        statistics.departure = departure
        // A UNIX socket counts the memory that it uses, which is more.
        statistics.unconfirmedBytes = min(unconfirmedByteCount, statistics.bytes)
        if departure == .ended { socket.discardReceived() }
        if relay?.unconfirmedIsLost ?? true, departure.isBreak,
            statistics.unconfirmedBytes == statistics.bytes
        {
            takeBack()
        }
    }

    /// Discounts all data that the system accepted for the peer, because none of it has arrived.
    private func takeBack() {
        (statistics.bytes, statistics.units, statistics.keyframes) = (0, 0, 0)
        statistics.repeated = ReceiverLedger.Taken()
    }

    /// Sends the farewell and ends the sending side. Data that the system has accepted still arrives.
    /// - Returns: whether the receiver is done; a relay must first send the rest,
    ///   and then closes the connection.
    func finish() -> Bool {
        if !hasFinished {
            hasFinished = true
            // It fits into the system's buffer, which takes the last units as well; a peer that misses it sees the end.
            if !farewell.isEmpty { _ = farewell.withUnsafeBytes { socket.send($0) } }
            socket.shutDownWriting()
        }
        return relay == nil
    }
}

extension ReceiverStatistics.Departure {
    /// Whether the system throws away what the peer has not confirmed.
    fileprivate var isBreak: Bool {
        switch self {
        case .closed, .broken, .failed: true
        case .silent, .tooSlow, .ended, .cutOff: false
        }
    }

    fileprivate init(_ failure: Relay.Failure) {
        self =
            switch failure {
            case .closed: .closed
            case .broken(let code): .broken(errno: code)
            case .silent(let time): .silent(for: time)
            case .failed(let detail): .failed(detail: detail)
            }
    }
}
