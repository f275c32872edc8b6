import Bitstream
import Network
import Time

/// One connection of a live output: its place in the stream, and what became of it. Belongs to the output's
/// thread.
///
/// Units are written straight from their own storage, which all receivers share. Once the first byte of one is
/// sent, the rest of it is, too.
final class Receiver {
    /// What the ledger calls it.
    let id: Int
    let socket: Socket
    /// The same for connections of one address; nil if these are not limited.
    let origin: UInt64?
    private(set) var statistics: ReceiverStatistics
    /// It received an IDR: from now on, units it does not get count as lost.
    private(set) var hasStarted = false
    /// Whether the system accepts more, as far as is known.
    private var isWritable = true
    /// Since when the system takes nothing.
    private(set) var blockedSince: Instant?
    /// From an overflow until it has everything there is, some seconds after its latest one.
    private var overflowedSince: Instant?
    private var latestOverflow = Instant.distantPast
    /// Bytes that the peer's system has not all confirmed, and since when that is so.
    private var unconfirmed: (count: Int, since: Instant)?
    private var latestLook = Instant.distantPast
    private var gate = SinkGate()
    /// The number of the unit after `current`.
    private(set) var position: Int
    /// The unit that is being sent, and how much of it was.
    private var current: BroadcastBuffer.Entry?
    private var offset = 0

    /// How long without an overflow until it counts as having caught up.
    private static let steadyTime = Duration.seconds(2)

    /// The time between two looks at what the peer's system has confirmed.
    private static let lookInterval = Duration.seconds(1)

    /// How much it had got when its peer ended its half of the connection; nil before that.
    private var bytesAtEnd: Int?

    /// - Parameter position: the number of the first unit that comes after it joined.
    init(
        id: Int, socket: consuming Socket, origin: UInt64?, statistics: ReceiverStatistics, position: Int
    ) {
        self.id = id
        self.origin = origin
        self.socket = socket
        self.statistics = statistics
        self.position = position
    }

    /// The system says that it takes more.
    func becomeWritable() {
        isWritable = true
        blockedSince = nil
    }

    /// The peer sends no more. It may have left, or have nothing to say: then it still receives.
    func peerEnded() { bytesAtEnd = bytesAtEnd ?? statistics.bytes }

    /// Whether the peer sends no more, and nothing was sent since: the next send would show whether it left.
    var mayBeGone: Bool { bytesAtEnd == statistics.bytes }

    /// Why it left, if a call failed with this errno.
    func departure(for code: Int32) -> ReceiverStatistics.Departure {
        // A peer that closes a connection announces it first, and then refuses data.
        bytesAtEnd == nil ? .broken(errno: code) : .closed
    }

    /// Whether the system has accepted everything that is available for it.
    func isIdle(in window: BroadcastBuffer.Window) -> Bool {
        current == nil && position >= window.range.upperBound
    }

    /// Drops the pending units if some of them have left the buffer.
    /// - Returns: whether that was so.
    func dropIfOverflowed(_ window: BroadcastBuffer.Window, at now: Instant) -> Bool {
        guard position < window.range.lowerBound else { return false }
        noteLag(at: now)
        let isLate = gate.isOpen
        if isLate, current != nil, offset == 0 {
            current = nil
            statistics.dropped += 1
        }
        drop(window.range.upperBound - position)
        position = window.range.upperBound
        gate.close()
        (overflowedSince, latestOverflow) = (overflowedSince ?? now, now)
        return isLate
    }

    /// Since when it is behind; nil where it is not.
    func lateSince(at now: Instant) -> Instant? {
        lookAtConfirmation(at: now)
        return [overflowedSince, unconfirmed?.since].compactMap { $0 }.min()
    }

    /// The system's buffers hold a minute and more of a thin stream, and so hide a peer that hardly reads.
    private func lookAtConfirmation(at now: Instant) {
        latestLook = now
        let confirmed = statistics.bytes - socket.unconfirmedByteCount
        if let unconfirmed, confirmed >= unconfirmed.count { self.unconfirmed = nil }
        if unconfirmed == nil, confirmed < statistics.bytes { unconfirmed = (statistics.bytes, now) }
    }

    /// Sends what there is until the system takes no more.
    /// - Returns: errno where the connection is broken.
    func send(from buffer: BroadcastBuffer, at now: Instant) -> Int32? {
        // Of what waits since a former call: it is late whether it is taken now or not.
        noteLag(at: now)
        skip(in: buffer)
        while isWritable, let entry = current ?? next(in: buffer) {
            let sending = entry.unit.withUnsafeBytes {
                socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...]))
            }
            switch sending {
            case .sent(let byteCount): count(sent: byteCount, of: entry, at: now)
            case .full:
                isWritable = false
                blockedSince = blockedSince ?? now
            case .exhausted:
                blockedSince = blockedSince ?? now
                return nil
            case .broken(let code): return code
            }
        }
        // Skipping from keyframe to keyframe is not catching up.
        if isWritable, gate.isOpen, now - latestOverflow >= Self.steadyTime { overflowedSince = nil }
        if now - latestLook >= Self.lookInterval { lookAtConfirmation(at: now) }
        return nil
    }

    private func count(sent byteCount: Int, of entry: BroadcastBuffer.Entry, at now: Instant) {
        blockedSince = nil
        statistics.bytes += byteCount
        offset += byteCount
        guard offset == entry.unit.count else { return }
        statistics.units += 1
        if entry.unit.isIDR { statistics.keyframes += 1 }
        noteLag(at: now)
        current = nil
    }

    /// Of the unit that is being sent.
    private func noteLag(at now: Instant) {
        guard let current else { return }
        statistics.longestLag = max(statistics.longestLag, (now - current.arrival).inNanoseconds)
    }

    /// Skips what the gate does not pass, even while the rest of an earlier unit waits to be sent.
    private func skip(in buffer: BroadcastBuffer) {
        while !gate.isOpen, let entry = buffer[position] {
            if gate.admits(entry.unit) {
                hasStarted = true
                return
            }
            drop(1)
            position += 1
        }
    }

    private func next(in buffer: BroadcastBuffer) -> BroadcastBuffer.Entry? {
        skip(in: buffer)
        guard gate.isOpen, let entry = buffer[position] else { return nil }
        position += 1
        (current, offset) = (entry, 0)
        return entry
    }

    private func drop(_ count: Int) {
        if hasStarted { statistics.dropped += count }
    }

    /// Ends the connection so that data the system has accepted still arrives.
    /// - Parameters:
    ///   - window: what it leaves behind in the buffer is lost to it.
    ///   - elapsed: from the output's beginning.
    func leave(
        _ departure: ReceiverStatistics.Departure, _ window: BroadcastBuffer.Window, at elapsed: Duration,
        now: Instant
    ) {
        noteLag(at: now)
        if departure == .cutOff {
            drop(window.range.upperBound - position + (current == nil ? 0 : 1))
        }
        statistics.left = elapsed.inNanoseconds
        statistics.departure = departure
        // A UNIX socket counts the memory that it takes, which is more.
        statistics.unconfirmedBytes = min(socket.unconfirmedByteCount, statistics.bytes)
        guard departure == .ended else { return }
        socket.shutDownWriting()
        socket.discardReceived()
    }
}
