import Testing

@testable import CamNetworking

/// Passwords, against the examples in the standards.
@Suite struct RTSPAuthorizationTests {
    private func header(_ challenges: [String], password: String = "Circle of Life", nonce: String = "")
        -> String?
    {
        var authorization = RTSPAuthorization(challenges: challenges, user: "Mufasa", password: password)
        return authorization?.header(method: "GET", url: "/dir/index.html", clientNonce: nonce)
    }

    @Test("MD5 and SHA-256 (RFC 7616, 3.9.1)")
    func digests() throws {
        let rest =
            #"realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
        let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let weak = try #require(header(["Digest algorithm=MD5, \(rest)"], nonce: nonce))
        #expect(weak.contains(#"response="8ca523f5e9506fed4657c9700eebdbec""#))
        #expect(weak.contains("qop=auth, nc=00000001, cnonce=\"\(nonce)\""))
        #expect(weak.contains(#"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#))
        let both = ["Digest algorithm=MD5, \(rest)", "Basic realm=x", "Digest \(rest), algorithm=SHA-256"]
        let strong = try #require(header(both, nonce: nonce))
        #expect(
            strong.contains(#"response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1""#))
        #expect(strong.contains("algorithm=SHA-256"))
    }

    @Test("MD5 without qop, as RTSP servers use it (RFC 2617, 3.2.2.1)")
    func plainDigest() throws {
        let challenge = #"Digest realm="testrealm@host.com",nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
        let said = try #require(header([challenge], password: "Circle Of Life"))
        // MD5("939e7578ed9e3c518a452acee763bce9:dcd98b7102dd2f0e8b11d0f600bfb0c093:39aff3a2bab6126f332b942af96d3366")
        #expect(said.contains(#"response="670fd8c2df070c60b045671b8b24ff02""#))
        #expect(!said.contains("qop") && !said.contains("cnonce"))
    }

    @Test("the password itself only where the server knows nothing better (RFC 7617, 2)")
    func basic() {
        var authorization = RTSPAuthorization(
            challenges: [#"Basic realm="WallyWorld""#], user: "Aladdin", password: "open sesame")
        #expect(
            authorization?.header(method: "GET", url: "/", clientNonce: "")
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test("several challenges in one header are separated")
    func combined() throws {
        let said = try #require(
            header([#"Basic realm="x, y", Digest realm="r", nonce="n", Basic realm="z""#]))
        #expect(said.hasPrefix("Digest username="))
        #expect(said.contains(#"realm="r", nonce="n""#))
    }

    @Test("a nonce that is too old is no wrong password", arguments: ["stale=true", "stale=\"TRUE\""])
    func stale(field: String) {
        #expect(
            RTSPAuthorization.isStale(["Basic realm=\"r\"", "Digest realm=\"r\", \(field), nonce=\"n\""]))
        #expect(!RTSPAuthorization.isStale(["Digest realm=\"stale=true\", nonce=\"n\""]))
    }

    @Test("each use of a server's nonce has its number")
    func counts() {
        var authorization = RTSPAuthorization(
            challenges: [#"Digest realm="r", nonce="n", qop="auth""#], user: "u", password: "p")
        for count in ["00000001", "00000002"] {
            let said = authorization?.header(method: "SETUP", url: "rtsp://h/p", clientNonce: "c")
            #expect(said?.contains("nc=\(count)") == true)
        }
    }

    @Test(
        "no password for what is unknown",
        arguments: [
            [], ["Bearer realm=\"x\""], ["Digest realm=\"x\""], ["Digest nonce=\"x\""],
            [#"Digest realm="r", nonce="n", algorithm=SHA-512-256"#],
            [#"Digest realm="r", nonce="n", qop="auth-int""#],
            ["Digest ="], ["Digest realm=\"unfinished, nonce=\"n\""],
        ])
    func unknown(challenges: [String]) {
        #expect(RTSPAuthorization(challenges: challenges, user: "u", password: "p") == nil)
    }
}
