/// The coded pictures since the last entry point, from which a decoder's state can be restored.
struct CodedHistory {
    /// Whether all of them are kept.
    private(set) var isComplete = false
    private var bytes: [UInt8] = []
    /// Where each ends.
    private var ends: [Int] = []

    /// A longer group of pictures is not kept: its state cannot be restored.
    private static let byteLimit = 16 << 20

    /// Starts over at an entry point, or continues with a picture decoded after it.
    mutating func append(_ unit: borrowing ReceivedAccessUnit) {
        if unit.isEntryPoint {
            forget()
            isComplete = true
        }
        guard isComplete else { return }
        guard bytes.count + unit.byteCount <= Self.byteLimit else { return forget() }
        unit.withUnsafeBytes { bytes.append(contentsOf: $0) }
        ends.append(bytes.count)
    }

    /// Discards the history, because the next picture's entry point is not in it.
    mutating func forget() {
        isComplete = false
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Passes each picture's bytes, in decoding order.
    func forEach<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
            var start = 0
            for end in ends {
                try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
    }
}
