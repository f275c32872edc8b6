import NIOCore

/// Closes a connection whose other end reads nothing for too long. One that reads slowly keeps its connection.
final class StallWatch {
    private var deadline: Scheduled<Void>?

    /// The most bytes that wait for a viewer, before the picture that exceeds them.
    static let waitingBytes = ChannelOptions.Types.WriteBufferWaterMark(low: 128 << 10, high: 1 << 20)
    /// How long a viewer may read nothing while they wait.
    private static let patience = TimeAmount.seconds(10)

    /// Notes that a channel became writable, or no longer is.
    func noteWritability(of context: ChannelHandlerContext) {
        end()
        if !context.channel.isWritable { watch(context, waiting: Self.waitingBytes(of: context)) }
    }

    /// Stops watching.
    func end() {
        deadline?.cancel()
        deadline = nil
    }

    private func watch(_ context: ChannelHandlerContext, waiting: Int) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            let left = Self.waitingBytes(of: context)
            if left < waiting { watch(context, waiting: left) } else { context.close(promise: nil) }
        }
    }

    /// Hardly anything is added while the channel is not writable, so fewer bytes mean that the other end reads.
    private static func waitingBytes(of context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
