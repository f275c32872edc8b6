import Encoder
import CamPictures
import CamPlatform
import CamConversion

/// Converts the next pictures while the encode thread encodes: one at a time, or two or three if the encoder
/// keeps waiting for conversions. Pictures stay in order.
///
/// A picture leaves the queue only when a slot is free, so converting ahead delays no picture.
final class ConversionAhead: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held, except the slots of tickets (see
    // `Ticket`).
    private let monitor = Monitor()
    private let frames: BoundedQueue<PixelBuffer>
    private let isWanted: @Sendable (borrowing PixelBuffer) -> Bool
    /// Indexed by slot number.
    private let tickets: [Ticket]
    /// The tickets that the encode thread has offered, oldest first, and the number of them that workers have
    /// taken.
    private var given: [Int] = []
    private var takenCount = 0
    /// Whether a worker waits for a picture. The other workers wait for this one, which keeps pictures in
    /// order.
    private var isTaking = false
    private var isOver = false
    private var workerCount = 0
    /// How many pictures may be converted at the same time.
    private var depth = 1
    /// The number of times that the encoder waited for a conversion while another picture was queued: in
    /// total, and at the last picture without such a wait.
    private var (waitCount, waitsBefore) = (0, 0)

    /// A place for one picture.
    private final class Ticket {
        /// The slots belong to the encode thread until it offers the ticket, then to a worker until
        /// `isReady`.
        var slots: [ConversionSlot] = []
        var buffer: PixelBuffer?
        var isReady = false
    }

    /// A picture, and the number of the slots that may hold its conversions.
    struct Picture: ~Copyable {
        let buffer: PixelBuffer
        let slot: Int
    }

    /// Enough for cameras whose pictures one processor cannot decode in time (4K at 30 frames per second).
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

    /// The number of pictures that have left the encoder's queue and that the encoder has not taken.
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

    /// Uses one more thread if conversion, and not the camera, keeps the encoder waiting. Call it with the
    /// lock held.
    private func noteWait() {
        let isConverting = takenCount > (isTaking ? 1 : 0) && !tickets[given[0]].isReady
        let waits = isConverting && !frames.isEmpty
        if waits { waitCount += 1 } else { waitsBefore = waitCount }
        guard waitCount - waitsBefore >= Self.waitsForMore, depth < tickets.count else { return }
        depth += 1
        waitsBefore = waitCount
    }

    /// The number of times that the encoder waited for a conversion while another picture was queued, and the
    /// number of pictures that may now be converted at the same time.
    var load: (waits: Int, depth: Int) { monitor.withLock { (waitCount, depth) } }

    /// Offers free slots for the conversion of the next pictures.
    /// - Parameter addSlots: appends the slots with a number, one for each encoder that needs conversion;
    ///   none if converting ahead gains nothing.
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

    /// Starts a worker unless there is one for each slot up to `number`.
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
