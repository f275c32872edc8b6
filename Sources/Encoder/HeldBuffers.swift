import CamPictures
import Synchronization

/// The camera's buffers that an encoder reads, each until its picture is coded.
///
/// Safe to use from any thread: a driver may return when its thread has been given up, and the buffers are the camera's
/// again.
final class HeldBuffers: Sendable {
    private let state = Mutex(State())

    /// An encoder that holds more returns none: the camera would be left without buffers.
    private static let most = 2 * PixelBufferPool.heldByReader

    private struct State {
        var buffers: [(number: Int, claim: PixelBufferClaim)] = []
        var isOver = false

        init() { buffers.reserveCapacity(PixelBufferPool.maximumCount) }
    }

    deinit { letGoOfAll() }

    /// Keeps a picture's buffer from the camera.
    /// - Parameter number: the frame's.
    func hold(_ buffer: borrowing PixelBuffer, number: Int) {
        // Claimed under the lock: whatever calls `letGoOfAll` still owns the buffer, so it cannot return to the camera
        // in between.
        let oldest = state.withLock { state -> PixelBufferClaim? in
            guard !state.isOver else { return nil }
            state.buffers.append((number, buffer.retain()))
            return state.buffers.count > Self.most ? state.buffers.removeFirst().claim : nil
        }
        oldest?.giveBack()
    }

    /// Gives the buffer of a picture that came out back, if it has one, and those of pictures that the encoder lost: none
    /// comes out before more earlier ones than it reads at once.
    func letGo(ofNumber number: Int) {
        giveBackAll { $0 == number || $0 < number - PixelBufferPool.heldByReader }
    }

    /// Gives the buffers back whose pictures will never come out, and holds none any more.
    func letGoOfAll() {
        state.withLock { $0.isOver = true }
        giveBackAll { _ in true }
    }

    /// One at a time, and without the lock: with the last one a pool may end, which calls a driver.
    private func giveBackAll(_ isDone: (Int) -> Bool) {
        while true {
            let claim = state.withLock { state in
                state.buffers.firstIndex { isDone($0.number) }.map { state.buffers.remove(at: $0).claim }
            }
            guard let claim else { return }
            claim.giveBack()
        }
    }
}
