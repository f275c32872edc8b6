/// The access units whose pictures a decoder still holds, in decoding order.
struct PendingPictures {
    private struct Entry {
        let number: Int
        /// Whether it shares the picture of the previous entry.
        let isSecondField: Bool
    }

    private var entries: [Entry] = []

    /// The number of pictures; two fields are one.
    var pictureCount: Int { entries.count { !$0.isSecondField } }

    /// Notes that a decoder accepted an access unit.
    mutating func add(_ number: Int, isSecondField: Bool) {
        let hasFirst = entries.last?.number == number - 1
        entries.append(Entry(number: number, isSecondField: isSecondField && hasFirst))
    }

    /// Removes the access units of an output picture: the one with this number, or the oldest if that was
    /// given up.
    /// - Returns: how many there were: 0 to 2.
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
