extension Sequence<String> {
    /// The name that `word` probably means, ignoring case: the first name that begins with `word`, otherwise
    /// the name with the fewest changed letters, if at most a third differ. Nil if no name is that close.
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
    /// The number of letters to insert, delete, replace or swap with their neighbor (Damerau–Levenshtein
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
