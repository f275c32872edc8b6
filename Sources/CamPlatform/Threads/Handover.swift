/// Transfers a value to another thread; the sender must not use it afterwards.
public final class Handover<Value>: @unchecked Sendable {
    // Safe to share: one thread at a time uses it.
    public var value: Value

    /// Wraps a value.
    public init(_ value: Value) { self.value = value }
}
