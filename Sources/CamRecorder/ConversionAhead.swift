import Encoder
import CamPictures
import CamPlatform

/// Converts the next pictures while the encode thread encodes: one, and where the encoder keeps having to wait for
/// that, two or three at the same time. Pictures stay in order.
///
/// A picture is taken from the queue only when there is a slot for it, so none waits longer than without this.
final class ConversionAhead: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held, but for the tickets' slots, see there.
    private let monitor = Monitor()
    private let frames: BoundedQueue<PixelBuffer>
    private let isWanted: @Sendable (borrowing PixelBuffer) -> Bool
    /// By the number of their slots.
    private let tickets: [Ticket]
    /// The tickets that the encode thread has given out, oldest first, and how many of them workers have taken.
    private var given: [Int] = []
    private var takenCount = 0
    /// Whether a worker waits for a picture. The others wait for it, so that pictures stay in order.
    private var isTaking = false
    private var isOver = false
    private var workerCount = 0
    /// How many pictures may be converted at the same time.
    private var depth = 1
    /// How often the encoder had to wait for a conversion while another picture waited: in all, and when it last had not.
    private var (waitCount, waitsBefore) = (0, 0)

    /// Where one picture goes.
    private final class Ticket {
        /// Belong to the encode thread until the ticket is given out, then to a worker until it is ready.
        var slots: [ConversionSlot] = []
        var buffer: PixelBuffer?
        var isReady = false
    }

    /// A picture, and the number of the slots that may have it.
    struct Picture: ~Copyable {
        let buffer: PixelBuffer
        let slot: Int
    }

    /// Pictures of cameras that one processor cannot decode (4K at 30 frames a second) need no more.
    private static let mostAtOnce = 3
    /// After so many waits in a row, one more picture is converted at the same time.
    private static let waitsForMore = 5

    /// - Parameters:
    ///   - limit: how many pictures may be converted at the same time; 0 for none ahead.
    ///   - isWanted: whether a picture will be encoded; called by any thread.
    init(
        _ frames: BoundedQueue<PixelBuffer>, limit: Int,
        isWanted: @escaping @Sendable (borrowing PixelBuffer) -> Bool
    ) {
        (self.frames, self.isWanted) = (frames, isWanted)
        tickets = (0..<max(0, min(limit, Self.mostAtOnce))).map { _ in Ticket() }
        given.reserveCapacity(tickets.count)
    }

    /// How many pictures were taken from the queue and do not wait for the encoder there any more.
    var heldCount: Int { monitor.withLock { takenCount - (isTaking ? 1 : 0) } }
}

// MARK: The encode thread

extension ConversionAhead {
    /// Waits for the next picture; nil at the end.
    func pop() -> Picture? {
        if monitor.withLock({ given.isEmpty }) {
            guard let buffer = frames.pop() else { return nil }
            return Picture(buffer: buffer, slot: 0)
        }
        var slot = 0
        let buffer = monitor.withLock { () -> PixelBuffer? in
            noteWait()
            slot = given[0]
            let ticket = tickets[slot]
            while !ticket.isReady { monitor.wait() }
            given.removeFirst()
            takenCount -= 1
            ticket.isReady = false
            return ticket.buffer.take()
        }
        guard let buffer else { return nil }
        return Picture(buffer: buffer, slot: slot)
    }

    /// Uses one more thread if conversion, and not the camera, keeps the encoder waiting. With the lock held.
    private func noteWait() {
        let isConverting = takenCount > (isTaking ? 1 : 0) && !tickets[given[0]].isReady
        let waits = isConverting && !frames.isEmpty
        if waits { waitCount += 1 } else { waitsBefore = waitCount }
        guard waitCount - waitsBefore >= Self.waitsForMore, depth < tickets.count else { return }
        depth += 1
        waitsBefore = waitCount
    }

    /// How often the encoder had to wait for a conversion while another picture waited, and how many may now be made
    /// at once.
    var load: (waits: Int, depth: Int) { monitor.withLock { (waitCount, depth) } }

    /// Lets the next pictures be converted, as far as there is room.
    /// - Parameter addSlots: adds the slots of a number, one for each encoder that takes another form; none if it is
    ///   of no use.
    func offer(_ addSlots: (_ number: Int, _ slots: inout [ConversionSlot]) -> Void) {
        for number in tickets.indices where monitor.withLock({ number < depth && !given.contains(number) }) {
            let ticket = tickets[number]
            ticket.slots.removeAll(keepingCapacity: true)
            addSlots(number, &ticket.slots)
            guard !ticket.slots.isEmpty, hasWorker(number) else { return }
            monitor.withLock {
                given.append(number)
                monitor.signal()
            }
        }
    }

    /// Starts a thread for the slot's number unless there are as many.
    private func hasWorker(_ number: Int) -> Bool {
        guard monitor.withLock({ workerCount }) <= number else { return true }
        guard let worker = WorkerThread(body: { [self] in work() }) else { return false }
        worker.detach()
        monitor.withLock { workerCount += 1 }
        return true
    }

    /// Ends the threads, once the queue is closed.
    func stop() {
        monitor.withLock {
            isOver = true
            monitor.signal()
            while workerCount > 0 { monitor.wait() }
        }
    }
}

// MARK: The workers

extension ConversionAhead {
    private func work() {
        while let ticket = takeTicket() {
            let buffer = frames.pop()
            monitor.withLock {
                isTaking = false
                monitor.signal()
            }
            convert(buffer, ticket)
        }
        monitor.withLock {
            workerCount -= 1
            monitor.signal()
        }
    }

    private func takeTicket() -> Ticket? {
        monitor.withLock {
            while !isOver, isTaking || takenCount == given.count { monitor.wait() }
            if isOver { return nil }
            isTaking = true
            takenCount += 1
            return tickets[given[takenCount - 1]]
        }
    }

    private func convert(_ buffer: consuming PixelBuffer?, _ ticket: Ticket) {
        switch buffer {
        case .some(let picture):
            if isWanted(picture) { for slot in ticket.slots { slot.fill(from: picture) } }
        case .none: break
        }
        var result = buffer
        monitor.withLock {
            ticket.buffer = result.take()
            ticket.isReady = true
            monitor.signal()
        }
    }
}
