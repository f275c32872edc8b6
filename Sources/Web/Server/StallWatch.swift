import NIOCore

/// Closes a connection whose other end reads nothing for too long.
struct StallWatch {
    private var deadline: Scheduled<Void>?

    /// The most bytes that wait for a viewer, before the picture that exceeds them.
    static let waitingBytes = ChannelOptions.Types.WriteBufferWaterMark(low: 128 << 10, high: 1 << 20)
    /// How long a viewer may read nothing while they wait.
    private static let patience = TimeAmount.seconds(10)

    /// Notes that a channel became writable or is not any more.
    mutating func noteWritability(of context: ChannelHandlerContext) {
        end()
        guard !context.channel.isWritable else { return }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            context.close(promise: nil)
        }
    }

    /// Stops watching.
    mutating func end() {
        deadline?.cancel()
        deadline = nil
    }
}
