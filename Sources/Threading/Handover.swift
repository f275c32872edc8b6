/// Transfers a value to another thread: the sender does not touch it again.
public final class Handover<Value>: @unchecked Sendable {
    // Safe to share: one thread at a time has it.
    public var value: Value

    /// Takes the value.
    public init(_ value: Value) { self.value = value }
}
