/// A server's answer to a request (RFC 2326, 7).
struct RTSPResponse: Equatable {
    let status: Int
    /// The server's words for the status.
    let reason: String
    /// Names in lower case, in the order of arrival.
    let headers: [(name: String, value: String)]

    static func == (one: RTSPResponse, other: RTSPResponse) -> Bool {
        one.status == other.status && one.reason == other.reason
            && one.headers.elementsEqual(other.headers, by: ==)
    }

    /// Reads what precedes the body.
    /// - Parameter head: the lines, without the empty one at the end.
    init?(head: some Sequence<UInt8>) {
        // By bytes: as a character, the end of a line is another than its parts.
        var lines = Array(head).split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0.last == 13 ? $0.dropLast() : $0, as: UTF8.self) }[...]
        let parts = lines.popFirst()?.split(separator: " ", maxSplits: 2) ?? []
        guard parts.count >= 2, parts[0].hasPrefix("RTSP/1."), parts[1].count == 3,
            let status = Int(parts[1]), (100...599).contains(status)
        else { return nil }
        self.status = status
        reason = parts.count == 3 ? Self.printable(parts[2]) : ""
        headers = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...]
            return (line[..<colon].lowercased(), Self.trimmed(value))
        }
    }

    /// The first header of a name in lower case.
    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Every header of a name in lower case.
    func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// The number of bytes that follow; nil if it is not a number.
    var bodyLength: Int? {
        guard let text = self["content-length"] else { return 0 }
        return UInt32(text).map(Int.init)
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while text.last.map(isSpace) == true { text.removeLast() }
        return String(text)
    }

    /// What goes into a message: one line of text, not too long.
    private static func printable(_ text: Substring) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).filter { (" "..."~").contains($0) }))
    }
}
