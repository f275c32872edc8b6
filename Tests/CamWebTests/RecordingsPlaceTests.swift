import CamPlatform
import Testing

@testable import CamWeb

@Suite("where recordings are")
struct RecordingsPlaceTests {
    private func place(_ text: String) -> RecordingsPlace? {
        RecordingsPlace(SettingsFile(path: "door.conf", text: text), stateFolder: "/state/door")
    }

    @Test(
        "the folder above the first name that changes",
        arguments: [
            ("output = %Y-%m-%d/%H%M%S.mkv", "/state/door", "2026-11-27/120000.mkv", 1),
            ("output = ./door.mp4", "/state/door", "door-3.mp4", 0),
            ("output = rec/%F.h264", "/state/door/rec", "2026-11-27.h264", 0),
            ("output = /srv/door/%F/%H.ts", "/srv/door", "2026-11-27/12-1.ts", 1),
            ("output = /%F.mkv", "/", "2026-11-27.mkv", 0),
            ("output = rtsp://localhost/door\noutput = %F.mkv", "/state/door", "2026-11-27.mkv", 0),
        ])
    func found(text: String, folder: String, name: String, depth: Int) throws {
        let place = try #require(self.place(text))
        #expect(place.folder == folder)
        #expect(place.depth == depth)
        #expect(place.covers(name))
        #expect(!place.covers("other/\(name)"))
        #expect(!place.covers("\(name).part"))
        #expect(!place.areEvents)
    }

    @Test(
        "no recordings",
        arguments: ["listen = 9982", "output = rtsp://h/a.mkv", "output = -", "output = a.avcc"])
    func none(text: String) { #expect(place(text) == nil) }

    @Test("the recordings of a ring are events")
    func events() { #expect(place("output = %F.mkv\nring = 30s")?.areEvents == true) }

    @Test("a folder without settings has every recording")
    func folder() {
        let place = RecordingsPlace(folder: "/srv")
        for name in ["a.mkv", "a/b/c/d/e.MP4", "a.h265"] { #expect(place.covers(name)) }
        for name in ["a.txt", "mkv", "a.mkv.part", "a.jpg"] { #expect(!place.covers(name)) }
    }
}
