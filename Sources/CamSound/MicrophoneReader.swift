import CamPlatform

/// Opens a microphone, reads it, and reopens it after it was unplugged, on a separate thread: a driver or a
/// sound server may hang in any of these calls, and must not block other threads.
///
/// Public members may be used from any thread, `take` from one thread only.
public final class MicrophoneReader: @unchecked Sendable {
    // Safe to share: mutable state is accessed with the lock held, except `room`, which only the reader's
    // thread uses.
    private let open: @Sendable () throws(SoundError) -> any SoundSource
    private let monitor = Monitor()
    private var pending = Batch()
    private var first: Result<SoundFormat, SoundError>?
    private var isStopped = false
    private var hasEnded = false
    private var lostReadings = 0
    private var sourceOverruns = 0
    /// Used only by the reader's thread.
    private let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: roomCapacity)

    /// The events and samples of a microphone since the previous batch, oldest first.
    public struct Batch: ~Copyable {
        /// An event.
        public enum Item: Sendable, Hashable {
            /// A microphone was opened.
            case opened(name: String, SoundFormat)
            /// A reading, and the number of its samples in the batch.
            case samples(SoundReading, count: Int)
            /// The microphone is gone, or could not be opened.
            case lost(SoundError)
        }

        public fileprivate(set) var items: [Item] = []
        /// The samples of all items, in their order.
        public let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: capacity)
        fileprivate var count = 0

        /// Two seconds in two channels.
        fileprivate static let capacity = 2 * 2 * SoundCodec.rate

        /// Creates an empty batch.
        public init() { items.reserveCapacity(256) }

        deinit { samples.deallocate() }

        fileprivate mutating func removeAll() {
            items.removeAll(keepingCapacity: true)
            count = 0
        }
    }

    /// A fifth of a second in two channels.
    private static let roomCapacity = 19_200
    /// How long one wait for samples may last.
    private static let wait = Duration.milliseconds(100)
    /// The pause after a read that returned at once without samples.
    private static let shortPause = Duration.milliseconds(20)
    /// The pause between attempts to open a microphone.
    private static let pause = Duration.seconds(1)

    /// Starts the thread; nil if the system allows no more.
    /// - Parameter open: opens the microphone, on the reader's thread.
    public init?(open: @escaping @Sendable () throws(SoundError) -> any SoundSource) {
        self.open = open
        // The thread keeps the reader alive until it ends, even if a call hangs.
        guard let thread = WorkerThread(body: { [self] in run() }) else { return nil }
        thread.detach()
    }

    deinit { room.deallocate() }

    /// Waits for the result of the first attempt to open the microphone; nil if the deadline passes first.
    public func firstFormat(until deadline: Instant) -> Result<SoundFormat, SoundError>? {
        monitor.withLock {
            while first == nil, .now < deadline { monitor.wait(until: deadline) }
            return first
        }
    }

    /// Waits for events, and swaps the pending batch for an empty one.
    /// - Returns: whether there were events before the deadline.
    public func take(into batch: inout Batch, until deadline: Instant) -> Bool {
        batch.removeAll()
        return monitor.withLock {
            while pending.items.isEmpty, .now < deadline { monitor.wait(until: deadline) }
            swap(&pending, &batch)
            return !batch.items.isEmpty
        }
    }

    /// The number of losses because samples were not read or not taken in time.
    public var overruns: Int { monitor.withLock { sourceOverruns + lostReadings } }

    /// Closes the microphone.
    /// - Returns: false if its thread hangs.
    public func stop(patience: Duration) -> Bool {
        let end = Instant.now + patience
        return monitor.withLock {
            isStopped = true
            monitor.signal()
            while !hasEnded, .now < end { monitor.wait(until: end) }
            return hasEnded
        }
    }

    private func run() {
        while !pauses(for: .zero) {
            do throws(SoundError) { try read(try open()) } catch {
                add(.lost(error)) { self.first = self.first ?? .failure(error) }
            }
            if pauses(for: Self.pause) { break }
        }
        monitor.withLock {
            hasEnded = true
            monitor.signal()
        }
    }

    /// Reads an open microphone until it fails or the reader is stopped.
    private func read(_ source: any SoundSource) throws(SoundError) {
        let format = source.format
        let past = monitor.withLock { sourceOverruns }
        add(.opened(name: source.name, format)) { self.first = self.first ?? .success(format) }
        while true {
            let deadline = Instant.now + Self.wait
            if let reading = try source.read(into: room, until: deadline), reading.frames > 0 {
                add(reading, UnsafeBufferPointer(rebasing: room[..<(reading.frames * format.channels)]))
                monitor.withLock { sourceOverruns = past + source.overruns }
                if pauses(for: .zero) { return }
            } else if pauses(for: min(Self.shortPause, max(.zero, deadline - .now))) {
                return
            }
        }
    }

    /// Waits until the time has passed or the reader is stopped.
    /// - Returns: whether the reader is stopped.
    private func pauses(for duration: Duration) -> Bool {
        let end = Instant.now + duration
        return monitor.withLock {
            while !isStopped, .now < end { monitor.wait(until: end) }
            return isStopped
        }
    }

    private func add(_ item: Batch.Item, _ note: () -> Void) {
        monitor.withLock {
            note()
            // Repeated failures are reported once.
            if case .lost = item, case .lost? = pending.items.last { return }
            pending.items.append(item)
            monitor.signal()
        }
    }

    /// Drops all pending samples to make room: only the newest ones match the pictures still to come.
    private func dropSamples() {
        let count = pending.items.count
        pending.items.removeAll { if case .samples = $0 { true } else { false } }
        lostReadings += count - pending.items.count
        pending.count = 0
    }

    private func add(_ reading: SoundReading, _ samples: UnsafeBufferPointer<Int16>) {
        monitor.withLock {
            if pending.count + samples.count > Batch.capacity { dropSamples() }
            for (index, sample) in samples.enumerated() { pending.samples[pending.count + index] = sample }
            pending.count += samples.count
            pending.items.append(.samples(reading, count: samples.count))
            monitor.signal()
        }
    }
}
