/// A command line that is still being typed.
struct PartialCommandLine {
    /// As the shell splits it, perhaps with quotes.
    let words: [String]

    /// Returns the value that an option has so far; nil if it has none.
    func value(of option: String) -> String? {
        let values = words.indices.compactMap { index -> String? in
            if words[index].hasPrefix("\(option)=") {
                return String(words[index].dropFirst(option.count + 1))
            }
            return words[index] == option && index + 1 < words.count ? words[index + 1] : nil
        }
        return values.last.map { $0.filter { !#"'"\"#.contains($0) } }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
