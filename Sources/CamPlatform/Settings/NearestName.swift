extension Sequence<String> {
    /// The name that `word` may have been meant to be, ignoring case: the first that begins with it,
    /// otherwise the one with the fewest changes, at most a third of its letters. Nil if none is near.
    public func nearest(to word: String) -> String? {
        let typed = Array(word.lowercased())
        let candidates = map { (name: $0, letters: Array($0.lowercased())) }
        if typed.count >= Self.shortestBeginning,
            let completion = candidates.first(where: { $0.letters.starts(with: typed) })
        {
            return completion.name
        }
        return candidates.map {
            (name: $0.name, letters: $0.letters, distance: $0.letters.changes(from: typed))
        }
        .filter { $0.distance <= Swift.max(1, Swift.max($0.letters.count, typed.count) / 3) }
        .min { $0.distance < $1.distance }?.name
    }

    /// Fewer letters are too ambiguous.
    private static var shortestBeginning: Int { 3 }
}

extension Array<Character> {
    /// The number of letters to insert, delete, replace or swap with their neighbour (Damerau–Levenshtein
    /// distance).
    fileprivate func changes(from typed: [Character]) -> Int {
        var (beforeLast, last) = ([Int](), Array<Int>(0...count))
        for row in typed.indices {
            var next = [row + 1]
            for column in indices {
                let isSame = typed[row] == self[column]
                var best = Swift.min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, typed[row] == self[column - 1], typed[row - 1] == self[column] {
                    best = Swift.min(best, beforeLast[column - 1] + 1)
                }
                next.append(best)
            }
            (beforeLast, last) = (last, next)
        }
        return last[count]
    }
}
