/// A server's answer to a request (RFC 2326, 7).
struct RTSPResponse {
    let status: Int
    /// The server's words for the status.
    let reason: String
    private let head: RTSPHead

    /// Nil if the message is no response.
    init?(_ head: RTSPHead) {
        let parts = head.firstLine.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("RTSP/1."), parts[1].count == 3,
            let status = Int(parts[1]), (100...599).contains(status)
        else { return nil }
        self.status = status
        reason = parts.count == 3 ? Self.printable(parts[2]) : ""
        self.head = head
    }

    /// The first header of a name in lower case.
    subscript(name: String) -> String? { head[name] }

    /// Every header of a name in lower case.
    func all(_ name: String) -> [String] { head.all(name) }

    /// What goes into a message: one line of text, not too long.
    private static func printable(_ text: Substring) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).filter { (" "..."~").contains($0) }))
    }
}
