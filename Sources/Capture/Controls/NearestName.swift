/// Finds what somebody who mistyped a name may have meant.
public enum NearestName {
    /// The name that the fewest changed letters lead to; nil where none is near: more than a third of the
    /// letters would change, and it does not begin with what was typed.
    public static func find(_ typed: String, among names: [String]) -> String? {
        if !typed.isEmpty, let completion = names.first(where: { $0.hasPrefix(typed) }) { return completion }
        let candidates = names.map { (name: $0, distance: distance(Array(typed.utf8), Array($0.utf8))) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance * 3 <= max(typed.utf8.count, best.name.utf8.count) ? best.name : nil
    }

    /// Bytes to insert, remove, replace (Levenshtein), or to swap with their neighbour.
    private static func distance(_ typed: [UInt8], _ name: [UInt8]) -> Int {
        var (beforeLast, last) = ([Int](), Array(0...name.count))
        for row in typed.indices {
            var next = [row + 1]
            for column in name.indices {
                let isSame = typed[row] == name[column]
                var best = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, typed[row] == name[column - 1], typed[row - 1] == name[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                next.append(best)
            }
            (beforeLast, last) = (last, next)
        }
        return last[name.count]
    }
}
