import CamPlatform

/// A compression session for tasks: one encodes pictures, another takes the access units.
///
///     let session = try AsyncCompressionSession(CompressionSession(for: format, [properties]))
///     try await withThrowingTaskGroup(of: Void.self) { group in
///         group.addTask { for try await unit in session.accessUnits { … } }
///         group.addTask {
///             for try await picture in pictures { try await session.encode(picture) }
///             try await session.finish()
///         }
///         // If one fails, the other is canceled: neither would end by itself.
///         try await group.waitForAll()
///     }
///
/// The session works on a thread of its own, because encoders and drivers block.
public actor AsyncCompressionSession {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The access units of all renditions, in order, for one task at a time. The sequence ends after `finish`, and throws
    /// the `EncoderError` of a session that has no encoder left.
    public nonisolated let accessUnits: AccessUnits

    private let executor: ThreadExecutor
    private let session: CompressionSession

    /// Takes over a session.
    /// - Parameter limit: how many access units may wait to be taken; beyond that, `encode` waits. An encoder that holds
    ///   pictures back may exceed it with what it returns at once.
    /// - Throws: if the system allows no more threads.
    public init(_ session: sending CompressionSession, limit: Int = 16) throws(EncoderError) {
        guard let executor = ThreadExecutor() else {
            throw EncoderError(.openFailed(encoder: "session", detail: "the system allows no more threads"))
        }
        (self.executor, self.session) = (executor, session)
        accessUnits = AccessUnits(limit: limit)
    }

    deinit { accessUnits.queue.finish() }

    /// Encodes a picture. Waits while too many access units have not been taken; no picture is left out. Await the call
    /// before the next one, or their order is open.
    /// - Parameter forcesKeyframe: whether its access units are IDRs, in addition to the regular ones.
    /// - Returns: what became of the picture. Damaged ones, such as a camera's broken JPEG, are left out.
    /// - Throws: `EncoderError` if no encoder is left, `CancellationError` if the task is cancelled while it waits.
    @discardableResult public func encode(
        _ picture: SharedPixelBuffer, forcingKeyframe forcesKeyframe: Bool = false
    ) async throws -> CompressionSession.Verdict {
        try await accessUnits.queue.awaitRoom()
        return try perform {
            try session.encode(picture.view, forcingKeyframe: forcesKeyframe) { accessUnits.queue.append($0) }
        }
    }

    /// Ends the stream: what the encoders hold back comes out, then the sequence of access units ends. Call it once, and
    /// nothing afterwards.
    /// - Throws: the `EncoderError` of a rendition that failed.
    public func finish() throws {
        try perform { try session.finish { accessUnits.queue.append($0) } }
        accessUnits.queue.finish()
    }

    private func perform<Result>(_ work: () throws -> Result) throws -> Result {
        do { return try work() } catch {
            accessUnits.queue.finish(throwing: error)
            throw error
        }
    }

    /// The access units of a session.
    public struct AccessUnits: AsyncSequence, Sendable {
        fileprivate let queue: AsyncQueue<AccessUnit>

        fileprivate init(limit: Int) { queue = AsyncQueue(limit: limit) }

        public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

        /// Takes the access units in order.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let queue: AsyncQueue<AccessUnit>

            /// Waits for the next access unit.
            /// - Returns: nil at the end, and in a task that is cancelled.
            public mutating func next() async throws -> AccessUnit? { try await queue.next() }
        }
    }
}
