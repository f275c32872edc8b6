extension Sequence<String> {
    /// The name that somebody who wrote `word` may have meant: the fewest letters to change, and no more than a
    /// third of them. Nil where nothing comes near.
    public func nearest(to word: String) -> String? {
        let word = Array(word.lowercased())
        return map { (name: $0, distance: Array($0.lowercased()).editDistance(to: word)) }
            .filter { $0.distance <= Swift.max(1, Swift.max($0.name.count, word.count) / 3) }
            .min { $0.distance < $1.distance }?.name
    }
}

extension Array<Character> {
    /// Letters to insert, leave out or replace (Levenshtein's distance).
    fileprivate func editDistance(to other: [Character]) -> Int {
        var row = Array<Int>(0...other.count)
        for (index, letter) in enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, otherLetter) in other.enumerated() {
                let replaced = diagonal + (letter == otherLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
