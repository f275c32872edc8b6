/// The part of a file that a request asks for (RFC 9110, 14.1.2).
public enum ByteRange: Hashable, Sendable {
    /// All of it: the request has no range, several, or one that is malformed.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// The file has none of the bytes.
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`.
    ///   - count: the file's bytes.
    public init(_ header: String, of count: Int) {
        self = .whole
        guard header.lowercased().hasPrefix("bytes=") else { return }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let (first, last) = (Self.number(parts[0]), Self.number(parts[1]))
        switch (first, last, parts[0].isEmpty, parts[1].isEmpty) {
        case (let first?, let last?, _, _) where first <= last:
            self = first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
        case (let first?, nil, _, true): self = first < count ? .part(first..<count) : .unsatisfiable
        case (nil, let length?, true, _):
            self = length > 0 && count > 0 ? .part(max(0, count - length)..<count) : .unsatisfiable
        default: break
        }
    }

    /// Nil for anything but digits; a number that is too large is larger than any file.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
