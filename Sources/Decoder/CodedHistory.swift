/// The coded pictures since the last entry point, from which a decoder's state can be made again.
struct CodedHistory {
    /// Whether they are all there.
    private(set) var isComplete = false
    private var bytes: [UInt8] = []
    /// Where each ends.
    private var ends: [Int] = []

    /// A group of pictures that is longer is not kept: it is decoded without the help of its history.
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

    /// What follows does not begin with an entry point that is kept.
    mutating func forget() {
        isComplete = false
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Lends each picture's bytes, in the order in which they were decoded.
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
