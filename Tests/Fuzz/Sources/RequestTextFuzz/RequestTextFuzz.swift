import FuzzSupport
import CamNetworking

/// Reads what camweb itself parses of a request: cookies, forms, a proxy's client, hosts, ranges, credentials.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = FuzzInput(start, count).rest
    let text = String(decoding: bytes, as: UTF8.self)
    if let form = FormBody(bytes) {
        for name in ["user", "password"] {
            guard let value = form[name] else { continue }
            promise(value.utf8.count <= bytes.count, "decoding never makes a form longer")
            promise(
                FormBody("\(name)=\(escaped(value))".utf8)?[name] == value, "an escaped value is read back")
        }
    }
    let headers = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let value = CookieHeader.value(of: "camweb", in: headers) {
        promise(!value.utf8.contains(UInt8(ascii: ";")), "a cookie ends at a semicolon")
        promise(text.contains("camweb=\(value)"), "a cookie's value is in the request")
    }
    if let client = ForwardedFor.client(in: headers) {
        promise(
            (1...64).contains(client.utf8.count) && !client.utf8.contains(UInt8(ascii: ",")),
            "a client is one address")
    }
    if let credentials = BasicCredentials(text) {
        promise(!credentials.user.utf8.contains(UInt8(ascii: ":")), "a user has no colon")
        promise(
            credentials.user.utf8.count + credentials.password.utf8.count < text.utf8.count,
            "decoding never makes credentials longer")
    }
    let size = bytes.count * 7919
    if case .part(let part) = ByteRange(text, of: size) {
        promise(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size, "a range lies in its file")
    }
    if let host = HostHeader.host(of: text) {
        promise(text.hasPrefix(host), "a host is the beginning of its header")
    }
    return 0
}

private func escaped(_ text: String) -> String {
    text.utf8.map { byte in
        let digits = String(byte, radix: 16)
        return "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
}
