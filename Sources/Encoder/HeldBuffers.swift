import Pictures
import Synchronization

/// The camera's buffers that an encoder reads, each until its picture is coded.
///
/// Safe to use from any thread: a driver may return when its thread has been given up, and the buffers are the camera's
/// again.
final class HeldBuffers: Sendable {
    private let state = Mutex(State())

    private struct State {
        var buffers: [(number: Int, claim: PixelBufferClaim)] = []
        var isOver = false

        init() { buffers.reserveCapacity(PixelBufferPool.maximumCount) }
    }

    deinit { letGoOfAll() }

    /// Keeps a picture's buffer from the camera.
    /// - Parameter number: the frame's.
    func hold(_ buffer: borrowing PixelBuffer, number: Int) {
        // Made under the lock: whoever ends this owns the buffer until then.
        state.withLock { state in
            if !state.isOver { state.buffers.append((number, buffer.retain())) }
        }
    }

    /// Gives the buffer of a picture that came out back, if it has one, and those of pictures that the encoder lost: none
    /// comes out before more earlier ones than it reads at once.
    func letGo(ofNumber number: Int) {
        state.withLock { state in
            state.buffers.removeAll { buffer in
                let isDone = buffer.number == number || buffer.number < number - PixelBufferPool.heldByReader
                if isDone { buffer.claim.giveBack() }
                return isDone
            }
        }
    }

    /// Gives the buffers back whose pictures will never come out, and holds none any more.
    func letGoOfAll() {
        state.withLock { state in
            state.isOver = true
            for buffer in state.buffers { buffer.claim.giveBack() }
            state.buffers.removeAll(keepingCapacity: true)
        }
    }
}
