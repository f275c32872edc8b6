import Testing

@testable import CamWeb

@Suite("where the page is")
struct PlacementTests {
    @Test(
        "a base is an absolute path, without the slash at its end",
        arguments: [
            ("/", ""), ("/cams", "/cams"), ("/cams/", "/cams"), ("/a/b-c/d.e_f~1", "/a/b-c/d.e_f~1"),
            ("/..a", "/..a"),
        ])
    func bases(text: String, expected: String) { #expect(BasePath(text)?.description == expected) }

    @Test(
        "and nothing else",
        arguments: [
            "", "cams", "//", "/a//b", "//a", "/a//", "/..", "/a/../b", "/./a", "/a?b", "/a#b", "/a b",
            "/a%20b", "/a;b",
            "/a\\b", "/ä", "/a\n", "/a\0", "/a:b", "https://a/b", "/e\u{301}",
            "/" + String(repeating: "a", count: 200),
        ])
    func noBases(text: String) { #expect(BasePath(text) == nil) }

    @Test("a target without its base")
    func relative() throws {
        let base = try #require(BasePath("/cams"))
        #expect(base.relative("/cams/") == "/")
        #expect(base.relative("/cams/live/a?b") == "/live/a?b")
        for target in ["/cams", "/camsx", "/", "", "*", "/CAMS/", "x/cams/"] {
            #expect(base.relative(target) == nil)
        }
        #expect(BasePath.root.relative("/live/a") == "/live/a")
        #expect(
            base.isBare("/cams") && base.isBare("/cams?a") && !base.isBare("/cams/")
                && !BasePath.root.isBare(""))
    }

    @Test(
        "an origin that may embed the page",
        arguments: [
            ("self", "'self'"), ("'self'", "'self'"),
            ("https://Home.example.org", "https://home.example.org"),
            ("http://192.168.1.2:8123", "http://192.168.1.2:8123"),
            ("https://localhost", "https://localhost"),
        ])
    func ancestors(text: String, expected: String) { #expect(FrameAncestor(text)?.text == expected) }

    @Test(
        "no wildcard, no path, and nothing that begins another directive",
        arguments: [
            "", "*", "https://*", "https://*.example.org", "https:", "http://", "https://a/", "https://a/b",
            "https://a b",
            "https://a;script-src", "https://a,https://b", "https://a\n", "https://a\0", "https://a:*",
            "https://a:",
            "https://a:99999", "https://[::1]", "https://u@a", "https://.a", "https://a..b", "ftp://a",
            "data:", "'none'",
            "none", "home.example.org", "https://ä.example", "https://'self'", "Https://a",
        ])
    func noAncestors(text: String) { #expect(FrameAncestor(text) == nil) }
}
