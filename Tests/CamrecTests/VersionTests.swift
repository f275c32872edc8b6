import CamCommandLine
import Testing

@testable import CamAcceleration

/// What `--version` prints.
@Suite struct VersionTests {
    private func firstLine(commit: String?) -> String {
        let text = Version.text(of: "camrec", commit: commit, libraries: ["FFmpeg 5.1"])
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    @Test("names the commit that was built, shortened if it is a whole hash")
    func commit() {
        let hash = String(repeating: "0123456789", count: 4)
        #expect(firstLine(commit: hash) == "camrec \(Version.current) (commit 012345678901)")
        #expect(firstLine(commit: "f5db1c4-dirty") == "camrec \(Version.current) (commit f5db1c4-dirty)")
        #expect(firstLine(commit: nil) == "camrec \(Version.current)")
    }

    @Test("has a line for each library that is loaded")
    func libraries() {
        let lines = Version.text(of: "camrec", libraries: LoadedLibraries.descriptions).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].wholeMatch(of: /FFmpeg \S*[0-9]+\.[0-9]+.*/) != nil)
        #expect(lines[2].wholeMatch(of: /libva [0-9]+\.[0-9]+\.[0-9]+/) != nil)
    }

    @Test(
        "reads libva's version from the name of its file",
        arguments: [
            ("/usr/lib/x86_64-linux-gnu/libva.so.2.1700.0", "2.17.0"), ("/opt/libva.so.2.2203.0", "2.22.3"),
            ("/usr/lib/libva.so.2", nil), ("libva.a", nil), ("libva.so.2.x.0", nil),
        ] as [(String, String?)])
    func libva(file: String, version: String?) {
        #expect(LoadedLibraries.version(ofLibva: file) == version)
    }
}
