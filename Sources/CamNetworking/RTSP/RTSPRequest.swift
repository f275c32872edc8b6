/// A request to an RTSP server (RFC 2326, 6).
struct RTSPRequest {
    let method: String
    let url: String
    let sequence: Int
    /// Without `CSeq` and `Content-Length`.
    let headers: [(name: String, value: String)]
    let body: String

    /// What goes over the connection.
    var bytes: [UInt8] {
        var lines = ["\(method) \(url) RTSP/1.0", "CSeq: \(sequence)", "User-Agent: camrec"]
        lines += headers.map { "\($0.name): \($0.value)" }
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        return Array((lines + ["", body]).joined(separator: "\r\n").utf8)
    }
}
