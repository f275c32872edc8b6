import Threading

/// Calls into a GPU's driver, which may never return: that of a laptop's second GPU which does not resume, say.
public enum DriverCall {
    /// Seconds. A driver may load and compile much, and a disk may have to spin up for it.
    private static let patience = 10

    /// Runs a call on a thread of its own, and gives up on it after a while.
    /// - Parameter call: what it holds belongs to it for good where it does not return. libav's message of a failure
    ///   is that of the thread, and to be read by it.
    public static func run<Value>(
        on node: String, _ call: @escaping () -> Value
    ) throws(RenderNodeError) -> Value {
        guard let value = WatchedCall.run(patience: patience, call) else {
            throw RenderNodeError(.hangs, node: node)
        }
        return value
    }
}
