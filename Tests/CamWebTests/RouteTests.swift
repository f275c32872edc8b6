import Testing

@testable import CamWeb

@Suite("paths")
struct RouteTests {
    @Test("the page's files, the list and the streams")
    func known() {
        #expect(Route("/") == .page(.document))
        #expect(Route("/?x=1") == .page(.document))
        #expect(Route("/page.css") == .page(.style))
        #expect(Route("/manifest.webmanifest") == .page(.manifest))
        #expect(Route("/cameras.json") == .cameras)
        #expect(Route("/live/front%20door") == .live(camera: "front door"))
        #expect(Route("/live/127.0.0.1:9982") == .live(camera: "127.0.0.1:9982"))
    }

    @Test(
        "nothing else",
        arguments: [
            "", "*", "index.html", "//", "/..", "/page.css/", "/Page.css", "/../etc/passwd", "/%70age.css",
            "/live",
            "/live/%", "/live/%zz", "/live/%00", "/live/%ff", "http://localhost/",
        ])
    func unknown(target: String) { #expect(Route(target) == nil) }

    @Test("each of the page's files has content")
    func files() {
        for file in PageFile.allCases { #expect(file.bytes.count > 100, "\(file)") }
    }
}
