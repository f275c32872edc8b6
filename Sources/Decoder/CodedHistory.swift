import Bitstream
import CamPlatform

/// The coded pictures since the last entry point, from which a decoder's state can be restored.
struct CodedHistory {
    /// Whether all of them are kept.
    private(set) var isComplete = false
    private var bytes: [UInt8] = []
    /// The end of each picture in `bytes`.
    private var ends: [Int] = []

    /// The most bytes to keep. The state cannot be restored in a longer group of pictures.
    private static let byteLimit = 16 << 20

    /// Adds a picture. An entry point starts a new history.
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

    /// Discards the history, because it no longer leads up to the next picture.
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

// MARK: Pending pictures

/// The access units with pictures that a decoder still holds, in decoding order.
struct PendingPictures {
    private struct Entry {
        let number: Int
        /// Whether the access unit shares the picture of the previous entry.
        let isSecondField: Bool
    }

    private var entries: [Entry] = []

    /// The number of pictures; two fields are one picture.
    var pictureCount: Int { entries.count { !$0.isSecondField } }

    /// Records that a decoder accepted an access unit.
    mutating func add(_ number: Int, isSecondField: Bool) {
        let hasFirst = entries.last?.number == number - 1
        entries.append(Entry(number: number, isSecondField: isSecondField && hasFirst))
    }

    /// Removes the access units of an output picture: those with this number, or the oldest if the number was
    /// given up.
    /// - Returns: the number of access units removed: 0 to 2.
    mutating func remove(_ number: Int) -> Int {
        guard let index = entries.firstIndex(where: { $0.number == number }) ?? entries.indices.first else {
            return 0
        }
        return removePicture(at: index)
    }

    /// Removes the oldest pictures beyond a limit.
    /// - Returns: the number of access units removed.
    mutating func removeOldest(beyond limit: Int) -> Int {
        var removed = 0
        while pictureCount > limit { removed += removePicture(at: 0) }
        return removed
    }

    /// Removes all access units from a number on.
    /// - Returns: how many there were.
    mutating func removeAll(from number: Int = .min) -> Int {
        let before = entries.count
        entries.removeAll { $0.number >= number }
        return before - entries.count
    }

    /// Removes the access units of a range.
    /// - Returns: how many there were.
    mutating func removeAll(in range: Range<Int>) -> Int {
        let before = entries.count
        entries.removeAll { range.contains($0.number) }
        return before - entries.count
    }

    private mutating func removePicture(at index: Int) -> Int {
        entries.remove(at: index)
        guard index < entries.count, entries[index].isSecondField else { return 1 }
        entries.remove(at: index)
        return 2
    }
}

// MARK: Arrival times

/// The arrival times of the latest access units, by number.
struct ArrivalTimes {
    private var entries: [(number: Int, arrival: Instant?)?] = Array(repeating: nil, count: Self.capacity)

    /// A power of two, and more than the fields of the 16 pictures that may be held back (H.264, A.3.1;
    /// H.265, A.4.2).
    private static let capacity = 64

    /// Records the arrival of an access unit.
    mutating func note(_ arrival: Instant?, of number: Int) {
        entries[number & (Self.capacity - 1)] = (number, arrival)
    }

    /// Returns the arrival time of an access unit; nil if it is unknown or the access unit is not a recent
    /// one.
    func arrival(of number: Int64) -> Instant? {
        guard let entry = entries[Int(number & Int64(Self.capacity - 1))], entry.number == number else {
            return nil
        }
        return entry.arrival
    }
}
