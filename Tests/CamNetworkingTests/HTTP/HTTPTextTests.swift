import CamNetworking
import FoundationEssentials
import Testing

@Suite("cookies")
struct CookieHeaderTests {
    @Test(
        "the first of a name",
        arguments: [
            (["camweb=abc"], "abc"), (["a=1; camweb=abc; b=2"], "abc"), (["a=1", "camweb=abc"], "abc"),
            (["camweb=abc; camweb=def"], "abc"), (["camweb=a=b"], "a=b"), (["camweb="], ""),
            ([";;  camweb=x;"], "x"),
        ])
    func found(headers: [String], value: String) {
        #expect(CookieHeader.value(of: "camweb", in: headers) == value)
    }

    @Test(
        "none of another name",
        arguments: [[], [""], ["camweb"], ["Camweb=1"], ["xcamweb=1"], ["camweb =1"], ["a=camweb=1"]])
    func none(headers: [String]) { #expect(CookieHeader.value(of: "camweb", in: headers) == nil) }
}

@Suite("forms")
struct FormBodyTests {
    @Test("fields, decoded")
    func fields() throws {
        let form = try #require(FormBody("user=maria&password=a+b%26c%3D%C3%A4&empty=&bare".utf8))
        #expect(form["user"] == "maria")
        #expect(form["password"] == "a b&c=ä")
        #expect((form["empty"], form["bare"], form["other"]) == ("", "", nil))
        #expect(FormBody([])?["user"] == nil)
    }

    @Test(
        "what is no form",
        arguments: ["a=%", "a=%4", "a=%zz", "a=%FF", "a=1&a=2", "%=1", String(repeating: "a&", count: 20)])
    func refused(text: String) { #expect(FormBody(text.utf8) == nil) }
}

@Suite("escapes")
struct PercentEncodingTests {
    @Test("any text comes back", arguments: ["", "door 2", "ä/%?#\u{1F3A5}", "a-b_c.d~e"])
    func roundTrip(text: String) {
        let encoded = PercentEncoding.encoded(text)
        #expect(encoded.utf8.allSatisfy { (0x21..<0x7F).contains($0) && !"/?#\"".utf8.contains($0) })
        #expect(PercentEncoding.decoded(encoded[...]) == text)
    }
}

@Suite("a proxy's client")
struct ForwardedForTests {
    @Test("the last address, which the client cannot choose")
    func last() {
        #expect(ForwardedFor.client(in: ["203.0.113.7"]) == "203.0.113.7")
        #expect(ForwardedFor.client(in: ["1.2.3.4, 203.0.113.7 "]) == "203.0.113.7")
        #expect(ForwardedFor.client(in: ["1.2.3.4", "2001:db8::1"]) == "2001:db8::1")
    }

    @Test("none", arguments: [[], [""], ["1.2.3.4,"], [String(repeating: "1", count: 100)]])
    func none(headers: [String]) { #expect(ForwardedFor.client(in: headers) == nil) }
}

@Suite("user and password of a player")
struct BasicCredentialsTests {
    private func read(_ text: String, scheme: String = "Basic") -> [String]? {
        BasicCredentials("\(scheme) \(Data(text.utf8).base64EncodedString())").map { [$0.user, $0.password] }
    }

    @Test("are separated by the first colon, whatever follows it")
    func known() {
        #expect(read("maria:correct horse") == ["maria", "correct horse"])
        #expect(read("maria:a:b", scheme: "bASIC") == ["maria", "a:b"])
        #expect(read("maria:\u{301}x") == ["maria", "\u{301}x"])
        #expect(read(":") == ["", ""])
    }

    @Test("another scheme, and what is damaged, is none")
    func damaged() {
        #expect(read("maria") == nil)
        #expect(read("maria:x", scheme: "Bearer") == nil)
        #expect(read(String(repeating: "a:", count: 600)) == nil)
        for header in ["", "Basic", "Basic ", "Basic %", "Basic bWFyaWE6eA", "Basic /w==", "bWFyaWE6eA=="] {
            #expect(BasicCredentials(header) == nil, "\(header)")
        }
    }
}
