import CamPlatform
import Glibc
import Synchronization

/// The pictures of a camera session, for tasks.
///
///     let pictures = try CameraPictures(CameraSession(.firstCamera))
///     for try await picture in pictures { … }
///
/// A thread of its own takes the pictures. A few wait for the task that iterates, which must be one at a time; while they
/// do, a camera's next ones are dropped and counted, and a file waits. The sequence ends with the file or with `stop`, and
/// throws the `CaptureError` of a camera that fails.
public final class CameraPictures: AsyncSequence, Sendable {
    public typealias Element = SharedPixelBuffer

    /// The name and place of the source.
    public let identity: SourceIdentity
    /// The format of the first picture.
    public let format: PictureFormat
    private let interrupter: CaptureInterrupter
    private let shared: Shared

    /// What the camera's thread needs, which must not keep the sequence alive.
    private final class Shared: Sendable {
        let waiting: AsyncQueue<SharedPixelBuffer>
        let dropped = Atomic<Int>(0)

        init(limit: Int) { waiting = AsyncQueue(limit: limit) }
    }

    /// Starts a session, which the sequence takes over.
    /// - Parameter limit: how many pictures may wait. A camera has few buffers: the number is reduced so that four are left
    ///   for itself, for the task that iterates, and for what that passes pictures on to. Hold one picture of a file at
    ///   most.
    /// - Throws: if the system allows no more threads.
    public init(_ session: sending CameraSession, limit: Int = 2) throws(CaptureError) {
        (identity, format, interrupter) = (session.identity, session.format, session.cancellation)
        let shared = Shared(limit: Swift.min(limit, session.bufferCount - 4))
        self.shared = shared
        let camera = UncheckedTransfer(session)
        guard let thread = WorkerThread(body: { Self.run(camera.value, shared) }) else {
            throw CaptureError(
                .systemCallFailed("pthread_create", errno: EAGAIN), device: session.identity.device)
        }
        thread.detach()
    }

    deinit { stop() }

    private static func run(_ camera: CameraSession, _ shared: Shared) {
        do throws(CaptureError) {
            try camera.start()
            while !shared.waiting.hasEnded, let picture = try camera.next() {
                if !camera.isLive { shared.waiting.awaitRoom() }
                let isTaken = shared.waiting.offer(SharedPixelBuffer(picture))
                if !isTaken, !shared.waiting.hasEnded { shared.dropped.add(1, ordering: .relaxed) }
            }
            shared.waiting.finish()
        } catch {
            shared.waiting.finish(throwing: error)
        }
        camera.stop()
    }

    /// The number of pictures that were dropped because others waited. The driver's own losses show as gaps in
    /// `PixelBuffer.sequence`.
    public var dropped: Int { shared.dropped.load(ordering: .relaxed) }

    /// Whether the source has ended or failed; pictures may still wait.
    public var hasEnded: Bool { shared.waiting.hasEnded }

    /// Ends the sequence; what waits can still be taken. The camera's thread stops the camera and closes it soon
    /// afterwards.
    public func stop() {
        shared.waiting.finish()
        interrupter.interrupt()
    }

    public func makeAsyncIterator() -> Iterator { Iterator(pictures: self) }

    /// Takes the pictures in order.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pictures: CameraPictures

        /// Waits for the next picture.
        /// - Returns: nil at the end, and in a task that is cancelled.
        public mutating func next() async throws -> SharedPixelBuffer? {
            try await pictures.shared.waiting.next()
        }
    }
}
