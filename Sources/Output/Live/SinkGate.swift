import Bitstream

/// Which access units reach someone who takes a stream's units as they come: none until an IDR, and from there
/// on every one.
///
/// Coded pictures depend on those before them, so none is ever dropped alone: a gate that must drop
/// one closes, and opens at the next IDR. This handles late joiners, slow receivers and those that
/// come back.
struct SinkGate: Sendable, Hashable {
    /// Whether the last access unit passed.
    private(set) var isOpen = false

    /// Lets nothing pass until the next IDR.
    mutating func close() { isOpen = false }

    /// Whether the next access unit passes; an IDR opens the gate.
    mutating func admits(_ unit: AccessUnit) -> Bool {
        if unit.isIDR { isOpen = true }
        return isOpen
    }
}
