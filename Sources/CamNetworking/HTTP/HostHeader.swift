/// Reads the header Host: `HOST[:PORT]`.
public enum HostHeader {
    /// Returns the host, IPv6 in brackets; nil if the port is not a number.
    public static func host(of authority: String) -> String? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":")
        guard let colon else { return authority }
        let port = authority[authority.index(after: colon)...]
        guard UInt16(port) != nil, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return String(authority[..<colon])
    }
}
