/// What precedes the body of a message in RTSP (RFC 2326, 4): the first line, and the headers.
struct RTSPHead {
    /// Says what the message is.
    let firstLine: String
    /// Names in lower case, in the order of arrival.
    let headers: [(name: String, value: String)]

    /// - Parameter bytes: without the empty line at the end.
    init(_ bytes: some Sequence<UInt8>) {
        // By bytes: as a character, the end of a line is another than its parts.
        var lines = Array(bytes).split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0.last == 13 ? $0.dropLast() : $0, as: UTF8.self) }[...]
        firstLine = lines.popFirst() ?? ""
        headers = lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...]
            return (line[..<colon].lowercased(), Self.trimmed(value))
        }
    }

    /// Whether the message is a request.
    var isRequest: Bool { firstLine.count > 9 && firstLine.suffix(9).hasPrefix(" RTSP/1.") }

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
}
