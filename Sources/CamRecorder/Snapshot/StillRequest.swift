import CamPictures
import Synchronization
import CamPlatform

/// Hands a copy of one picture from the capture thread to another thread on request.
///
/// Without a request, a picture costs one look at a flag. The capture thread allocates nothing: it first
/// reports the length of a picture, and then copies the next picture into memory that the other thread
/// provides.
final class StillRequest: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the lock held, except the atomic flag, which only saves taking
    // the lock.
    private let monitor = Monitor()
    private let isWanted = Atomic<Bool>(false)
    private var state = State.idle
    private var room: PixelBufferPool?
    private var copy: PixelBuffer?
    private var exposure: Exposure?

    private enum State {
        case idle
        /// The next picture's lengths are wanted.
        case measuring
        case measured(InlineArray<3, Int>)
        /// The next picture is wanted.
        case copying
        /// The picture is copied.
        case copied
        /// The picture is longer than the room.
        case tooLong
        /// No more pictures come.
        case over
    }

    /// A copied picture, in its own memory.
    struct Still: ~Copyable {
        let picture: PixelBuffer
        let exposure: Exposure?
    }

    /// Compressed pictures differ in length.
    private static let slack = 2

    /// Offers a picture of the source, which is copied on request. Called by the capture thread.
    /// - Parameter exposure: asks the camera; called only for a picture that is copied.
    func offer(_ picture: borrowing PixelBuffer, exposure: () -> Exposure?) {
        guard isWanted.load(ordering: .relaxed) else { return }
        let isCopied = monitor.withLock {
            switch state {
            case .measuring: answer(.measured(picture.lengths))
            case .copying:
                copy = room.flatMap { picture.copy(into: $0) }
                if copy != nil { return true }
                answer(.tooLong)
            case .idle, .measured, .copied, .tooLong, .over: break
            }
            return false
        }
        guard isCopied else { return }
        // Without the lock: the camera may take its time, and the other thread has a deadline.
        let exposure = exposure()
        monitor.withLock {
            guard case .copying = state else { return }
            self.exposure = exposure
            answer(.copied)
        }
    }

    /// Wakes the other thread, with the lock held.
    private func answer(_ state: State) {
        self.state = state
        isWanted.store(false, ordering: .relaxed)
        monitor.signal()
    }

    /// Whether memory for a picture is allocated: only during a request.
    var hasRoom: Bool { monitor.withLock { room != nil } }

    /// Ends every wait: no more pictures come.
    func close() {
        monitor.withLock {
            state = .over
            monitor.signal()
        }
    }

    /// Waits for the next picture.
    /// - Returns: nil if none came in time, or no more come.
    func take(until deadline: Instant) -> Still? {
        defer { forget() }
        while true {
            guard let lengths = measure(until: deadline), let room = Self.room(for: lengths) else {
                return nil
            }
            guard let isCopied = copyNext(into: room, until: deadline) else { return nil }
            // A picture longer than twice the previous one is rare, so measure again.
            guard isCopied else { continue }
            var still: Still?
            monitor.withLock {
                if let picture = copy.take() { still = Still(picture: picture, exposure: exposure) }
            }
            return still
        }
    }

    /// Releases the memory and its picture.
    private func forget() {
        monitor.withLock {
            copy = nil
            (room, exposure) = (nil, nil)
        }
    }

    private func measure(until deadline: Instant) -> InlineArray<3, Int>? {
        monitor.withLock {
            guard wait(for: .measuring, until: deadline), case .measured(let lengths) = state else {
                return nil
            }
            return lengths
        }
    }

    /// - Returns: whether the picture fit; nil if none came.
    private func copyNext(into room: PixelBufferPool, until deadline: Instant) -> Bool? {
        monitor.withLock {
            self.room = room
            guard wait(for: .copying, until: deadline) else { return nil }
            if case .copied = state { return true }
            return false
        }
    }

    /// Asks the capture thread, and waits for its answer, with the lock held.
    /// - Returns: false if none came.
    private func wait(for request: State, until deadline: Instant) -> Bool {
        if case .over = state { return false }
        state = request
        isWanted.store(true, ordering: .relaxed)
        while isWanted.load(ordering: .relaxed), Instant.now < deadline {
            if case .over = state { break }
            monitor.wait(until: deadline)
        }
        let isAnswered = !isWanted.exchange(false, ordering: .relaxed)
        if case .over = state { return false }
        if !isAnswered { state = .idle }
        return isAnswered
    }

    private static func room(for lengths: InlineArray<3, Int>) -> PixelBufferPool? {
        try? .allocated(planes: (0..<3).map { lengths[$0] * slack })
    }
}
