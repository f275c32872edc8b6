import Bitstream
import CamNetworking
import CamPlatform
import Glibc

/// The work of a live output's thread: accepts receivers, sends each as much as it can take, and disconnects
/// them.
///
/// Never waits for a receiver. Belongs to that thread once it runs.
final class BroadcastLoop {
    private let source: any ReceiverSource
    private let buffer: BroadcastBuffer
    private let wakeUp: EventFD
    private let ledger: ReceiverLedger
    private let options: LiveOptions
    private let requestKeyframe: @Sendable () -> Void
    private let poller: Poller
    private let start: Instant
    private var events: EventThrottle
    private var keyframes: NewcomerKeyframes
    /// Indexed by slot, which also gives a receiver's poller token.
    private var receivers: [Receiver?]
    private var hungUp: [Bool]
    private var mayHaveArrivals = true
    /// When to retry accepting after the system ran out of descriptors.
    private var nextAcceptance: Instant?
    private var seenUnits = 0
    /// The number of the latest IDR; nil before the first.
    private var latestKeyframe: Int?
    /// The number of the first unit that no former receiver has got.
    private var repeatedEnd = 0
    /// The time of the current round.
    private var sendingTime = Instant.distantPast
    /// Threads that help to serve many receivers; created when they are first needed.
    private lazy var crew = WorkCrew<BroadcastLoop>(helpers: Processors.count - 1) { $0.send(to: $1) }
    /// When to disconnect receivers that have not read the rest; nil until the stream has ended.
    private var closingTime: Instant?

    private enum Token {
        static let source: UInt64 = 0
        static let wakeUp: UInt64 = 1
        static let firstReceiver = 2
    }

    /// How long receivers may take to read the rest after the stream has ended.
    private static let closingPatience = Duration.seconds(3)
    /// How long to wait if the system has no descriptor for another receiver.
    private static let acceptancePause = Duration.seconds(1)
    /// The minimum number of receivers for which waking other threads pays off.
    private static let crowd = 64
    /// The number of receivers that a thread takes at once.
    private static let portion = 16
    /// The most connections accepted in a row before receivers are served.
    private static let arrivalsAtOnce = 64

    init(
        source: any ReceiverSource, buffer: BroadcastBuffer, wakeUp: EventFD, ledger: ReceiverLedger,
        options: LiveOptions, requestKeyframe: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (LiveEvent) -> Void, start: Instant = .now
    ) throws(NetworkError) {
        self.source = source
        self.start = start
        self.buffer = buffer
        self.wakeUp = wakeUp
        self.ledger = ledger
        self.options = options
        self.requestKeyframe = requestKeyframe
        events = EventThrottle(report)
        keyframes = NewcomerKeyframes(
            interval: options.keyframeInterval, frameDuration: options.frameDuration)
        receivers = Array(repeating: nil, count: max(1, options.mostReceivers))
        hungUp = Array(repeating: false, count: receivers.count)
        poller = try Poller()
        guard poller.watch(wakeUp.descriptor, for: .readable, token: Token.wakeUp),
            poller.watch(source.descriptor, for: .readable, token: Token.source)
        else { throw NetworkError(.noResources(errno: ENOMEM), address: "epoll") }
    }

    /// Runs until the stream has ended and every receiver is gone.
    func run() {
        repeat { wait(until: deadline) } while proceed(at: .now)
        poller.forget(source.descriptor)
        source.stop()
        events.flush()
    }

    /// Waits for events and records them for the next round.
    func wait(until deadline: Instant?) {
        poller.wait(until: deadline) { token, readiness in note(token, readiness) }
    }

    private func note(_ token: UInt64, _ readiness: Poller.Readiness) {
        switch token {
        case Token.source: mayHaveArrivals = true
        case Token.wakeUp: wakeUp.sleep()
        default:
            let slot = Int(token) - Token.firstReceiver
            if readiness.contains(.readable) { receivers[slot]?.discardReceived() }
            if readiness.contains(.writable) { receivers[slot]?.becomeWritable() }
            if readiness.contains(.ended) { receivers[slot]?.peerEnded() }
            if !readiness.isDisjoint(with: .hungUp) { hungUp[slot] = true }
        }
    }

    /// Runs one round.
    /// - Returns: false once the stream has ended and every receiver is gone.
    func proceed(at now: Instant) -> Bool {
        // Accept before looking at the units: a new receiver gets no older ones.
        if closingTime == nil { takeArrivals(at: now) }
        let window = buffer.window
        if window.isFinished, closingTime == nil { closingTime = now + Self.closingPatience }
        let hasNews = window.range.upperBound > seenUnits
        noteLatest(in: window)
        serve(window, hasNews: hasNews, at: now)
        forceKeyframe(at: now)
        let first = firstPosition(in: window, at: now)
        // An output that connects has at most one receiver.
        if ledger.mustBeTaken {
            ledger.pass(to: receivers[0]?.passedPictures ?? buffer.pictureCount(before: first))
        }
        buffer.trim(before: receivers.reduce(first) { min($0, $1?.position ?? .max) })
        return closingTime == nil || receivers.contains { $0 != nil }
    }

    /// The number of the first unit for a receiver that joins now.
    private func firstPosition(in window: BroadcastBuffer.Window, at now: Instant) -> Int {
        guard options.startsAtLatestKeyframe, let latestKeyframe, let keyframe = buffer[latestKeyframe],
            buffer.isRecent(keyframe, at: now)
        else { return window.range.upperBound }
        return latestKeyframe
    }

    /// When the next round is due without an event.
    private var deadline: Instant? {
        if mayHaveArrivals, nextAcceptance == nil, closingTime == nil { return .distantPast }
        var deadline = closingTime ?? nextAcceptance
        for receiver in receivers {
            guard let since = receiver?.blockedSince else { continue }
            deadline = min(deadline ?? .distantFuture, since + options.timeout)
        }
        return deadline
    }

    private func noteLatest(in window: BroadcastBuffer.Window) {
        guard window.range.upperBound > seenUnits else { return }
        var latest: (frameNumber: Int, arrival: Instant)?
        for number in max(seenUnits, window.range.lowerBound)..<window.range.upperBound {
            guard let entry = buffer[number], let unit = entry.unit else { continue }
            latest = (unit.frameNumber, entry.arrival)
            guard unit.isIDR else { continue }
            keyframes.noteKeyframe(at: entry.arrival)
            latestKeyframe = number
        }
        seenUnits = window.range.upperBound
        if let latest { keyframes.note(latest.frameNumber, at: latest.arrival) }
    }

    private func forceKeyframe(at now: Instant) {
        guard receivers.contains(where: { $0?.hasStarted == false }),
            keyframes.forcesOne(at: now)
        else { return }
        requestKeyframe()
    }
}

extension BroadcastLoop {
    private func takeArrivals(at now: Instant) {
        if let nextAcceptance, now < nextAcceptance { return }
        nextAcceptance = nil
        for _ in 0..<Self.arrivalsAtOnce where mayHaveArrivals {
            switch source.next() {
            case .receiver(let connection): welcome(connection, at: now)
            case .noneWaiting: mayHaveArrivals = false
            case .exhausted(let code):
                nextAcceptance = now + Self.acceptancePause
                events.report(.exhausted(errno: code), at: now)
                return
            case .unreachable(let error):
                ledger.note(error)
                events.report(.unreachable(error), at: now)
            }
        }
    }

    private func welcome(_ connection: consuming Connection, at now: Instant) {
        let peer = connection.peer
        guard connection.socket.descriptor < options.descriptorEnd else {
            ledger.refuse()
            return events.report(.refusedForFiles(peer: peer), at: now)
        }
        guard hasRoom(for: connection.origin, at: now) else {
            ledger.refuse()
            return events.report(.refusedAddress(peer: peer, limit: mostPerAddress), at: now)
        }
        guard let slot = freeSlot(at: now) else {
            ledger.refuse()
            return events.report(.refused(peer: peer, limit: receivers.count), at: now)
        }
        connection.socket.prepareForStreaming(patience: options.timeout)
        let descriptor = connection.socket.descriptor
        let token = UInt64(slot + Token.firstReceiver)
        let statistics = ReceiverStatistics(peer: peer, joined: now - start)
        hungUp[slot] = false
        let position = firstPosition(in: buffer.window, at: now)
        let receiver = Receiver(
            id: ledger.add(statistics), connection, statistics: statistics, position: position,
            picturesBefore: buffer.pictureCount(before: position), repeatedEnd: repeatedEnd)
        receivers[slot] = receiver
        events.report(.joined(peer: peer), at: now)
        guard poller.watch(descriptor, for: [.readable, .writable], token: token) else {
            dismiss(slot, receiver, .broken(errno: ENOMEM), buffer.window, at: now)
            return
        }
    }

    /// Returns whether another receiver of an address may join, replacing one from the same address if necessary.
    private func hasRoom(for origin: UInt64?, at now: Instant) -> Bool {
        guard let origin else { return true }
        func isFull() -> Bool { receivers.count { $0?.origin == origin } >= mostPerAddress }
        guard isFull() else { return true }
        removeDeparted(at: now)
        return !isFull() || dismissIdle(at: now) { $0.origin == origin }
    }

    private var mostPerAddress: Int { options.mostPerAddress ?? (receivers.count + 1) / 2 }

    private func freeSlot(at now: Instant) -> Int? {
        func free() -> Int? { receivers.firstIndex { $0 == nil } }
        if let slot = free() { return slot }
        removeDeparted(at: now)
        return free() ?? (dismissIdle(at: now) { _ in true } ? free() : nil)
    }

    /// Disconnects receivers that have left since the last check.
    private func removeDeparted(at now: Instant) {
        wait(until: .distantPast)
        let window = buffer.window
        for slot in receivers.indices { removeIfHungUp(slot, window, at: now) }
    }

    /// Disconnects one receiver that occupies a slot without following the stream, if any.
    private func dismissIdle(at now: Instant, _ isMeant: (Receiver) -> Bool) -> Bool {
        let candidates = receivers.indices.filter { receivers[$0].map(isMeant) ?? false }
        // Only sending shows whether a peer has closed the connection or has only stopped sending. A receiver
        // that was sent nothing since then is replaced.
        if let slot = candidates.first(where: { receivers[$0]?.mayBeGone == true }) {
            return dismiss(slot, .closed, at: now)
        }
        // A receiver that has lagged too long is replaced, too: reading a byte now
        // and then only avoids the timeout.
        let late = candidates.map { (slot: $0, since: receivers[$0]?.lateSince(at: now) ?? .distantFuture) }
        guard let slowest = late.min(by: { $0.since < $1.since }), slowest.since <= now - options.timeout
        else { return false }
        return dismiss(slowest.slot, .tooSlow(for: options.timeout), at: now)
    }

    private func dismiss(_ slot: Int, _ departure: ReceiverStatistics.Departure, at now: Instant) -> Bool {
        guard let receiver = receivers[slot] else { return false }
        dismiss(slot, receiver, departure, buffer.window, at: now)
        return true
    }
}

extension BroadcastLoop {
    private func serve(_ window: BroadcastBuffer.Window, hasNews: Bool, at now: Instant) {
        for slot in receivers.indices { prepare(slot, window, at: now) }
        sendingTime = now
        if hasNews, receivers.count(where: { $0 != nil }) >= Self.crowd {
            crew.perform(receivers.indices, in: Self.portion, on: self)
        } else {
            send(to: receivers.indices)
        }
        for slot in receivers.indices { settle(slot, window, at: now) }
    }

    private func prepare(_ slot: Int, _ window: BroadcastBuffer.Window, at now: Instant) {
        removeIfHungUp(slot, window, at: now)
        guard let receiver = receivers[slot], receiver.dropIfOverflowed(window, at: now) else { return }
        events.report(.overflowed(peer: receiver.statistics.peer), at: now)
    }

    /// Sends to some receivers. Threads run this concurrently: it changes only these receivers.
    private func send(to slots: Range<Int>) {
        for slot in slots { receivers[slot]?.send(from: buffer, at: sendingTime) }
    }

    private func settle(_ slot: Int, _ window: BroadcastBuffer.Window, at now: Instant) {
        guard let receiver = receivers[slot] else { return }
        if let code = receiver.sendingFailure {
            return dismiss(slot, receiver, receiver.departure(for: code), window, at: now)
        }
        if let departure = departure(of: receiver, window, at: now) {
            return dismiss(slot, receiver, departure, window, at: now)
        }
        ledger.update(receiver.id, receiver.statistics)
    }

    private func removeIfHungUp(_ slot: Int, _ window: BroadcastBuffer.Window, at now: Instant) {
        guard hungUp[slot], let receiver = receivers[slot] else { return }
        dismiss(slot, receiver, receiver.departure(), window, at: now)
    }

    private func departure(
        of receiver: Receiver, _ window: BroadcastBuffer.Window, at now: Instant
    ) -> ReceiverStatistics.Departure? {
        if let closingTime {
            if receiver.isIdle(in: window), receiver.finish() { return .ended }
            if now >= closingTime { return .cutOff }
        }
        guard let since = receiver.blockedSince, now - since >= options.timeout else { return nil }
        return .silent(for: options.timeout)
    }

    private func dismiss(
        _ slot: Int, _ receiver: Receiver, _ departure: ReceiverStatistics.Departure,
        _ window: BroadcastBuffer.Window, at now: Instant
    ) {
        receivers[slot] = nil
        poller.forget(receiver.socket.descriptor)
        receiver.leave(departure, window, at: now - start, now: now)
        // Units that were taken back are new to the next receiver.
        if receiver.statistics.units > 0 { repeatedEnd = max(repeatedEnd, receiver.firstPending) }
        ledger.update(receiver.id, receiver.statistics)
        events.report(.left(receiver.statistics), at: now)
        source.receiverLeft()
    }
}

// MARK: - Keyframes for newcomers

/// Decides when to force an IDR for receivers that wait for their first one.
///
/// None is forced if the next regular one is at most a second away, nor twice within a second, however many
/// receivers join. The latest frames show how far away it is: a camera slows down in low light, whatever its
/// nominal rate. A receiver that was too slow waits for a regular IDR, so that it costs the others nothing.
struct NewcomerKeyframes: Sendable {
    private static let longestWait = Duration.seconds(1)
    private let interval: KeyframeInterval
    /// The time between frames.
    private var spacing: Duration
    private var latest: (frameNumber: Int, arrival: Instant)?
    private var latestKeyframe: Instant?
    private var lastForced: Instant?

    /// - Parameters:
    ///   - interval: the interval between regular keyframes.
    ///   - frameDuration: the time between frames, until it is measured.
    init(interval: KeyframeInterval, frameDuration: Duration) {
        self.interval = interval
        spacing = frameDuration
    }

    /// Notes that a keyframe arrived.
    mutating func noteKeyframe(at arrival: Instant) { latestKeyframe = arrival }

    /// Notes that a frame arrived.
    mutating func note(_ frameNumber: Int, at arrival: Instant) {
        if let latest, frameNumber > latest.frameNumber {
            let measured = (arrival - latest.arrival) / (frameNumber - latest.frameNumber)
            // A pause in the recording says nothing about the camera.
            spacing += (min(measured, Self.longestWait) - spacing) / 4
        }
        latest = (frameNumber, arrival)
    }

    /// Returns whether to force an IDR while a receiver waits for one: not before the first frame, which is an IDR.
    mutating func forcesOne(at now: Instant) -> Bool {
        guard let latest, timeToRegular(after: latest) > Self.longestWait else { return false }
        if let lastForced, now - lastForced < Self.longestWait { return false }
        lastForced = now
        return true
    }

    /// Returns the time from a frame to the next regular keyframe.
    private func timeToRegular(after latest: (frameNumber: Int, arrival: Instant)) -> Duration {
        let inFrames = interval.frames.map { spacing * min($0 - latest.frameNumber % $0, 1 << 40) }
        let inTime = interval.duration.map {
            (latestKeyframe ?? latest.arrival) + $0 - latest.arrival
        }
        return [inFrames, inTime].compactMap { $0 }.min() ?? .nanoseconds(Int64.max)
    }
}
