import Bitstream

/// Selects the access units for a consumer that takes the stream as it is: none before an IDR, then all.
///
/// Coded pictures depend on earlier ones, so none is ever dropped alone: a gate that must drop one closes, and
/// opens at the next IDR. This handles late joiners, slow receivers and those that return.
struct SinkGate: Sendable, Hashable {
    /// Whether the last access unit passed.
    private(set) var isOpen = false

    /// Lets nothing pass until the next IDR.
    mutating func close() { isOpen = false }

    /// Returns whether the next access unit passes; an IDR opens the gate.
    mutating func admits(_ unit: AccessUnit) -> Bool {
        if unit.isIDR { isOpen = true }
        return isOpen
    }
}
