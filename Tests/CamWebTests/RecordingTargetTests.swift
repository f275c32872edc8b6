import Testing
import CamPlatform

@testable import CamWeb

@Suite("paths to recordings")
struct RecordingTargetTests {
    @Test("lists, spans, files, pieces and keyframes")
    func known() {
        let time = WallTime(microseconds: 1)..<WallTime(microseconds: 20)
        #expect(Route("/recordings/door.json?from=1&to=20") == .recordings(camera: "door", .list(time)))
        #expect(Route("/recordings/a.b%20c.mp4?to=20&from=1") == .recordings(camera: "a.b c", .span(time)))
        #expect(Route("/recordings/door/7") == .recordings(camera: "door", .file(7)))
        #expect(
            Route("/recordings/door/7.mp4?at=5&length=6")
                == .recordings(camera: "door", .piece(7, at: .microseconds(5), length: .microseconds(6))))
        #expect(
            Route("/recordings/door/7.keyframe?at=0")
                == .recordings(camera: "door", .keyframe(7, at: .zero)))
    }

    @Test(
        "nothing else",
        arguments: [
            "door", "door.json", "door.json?from=1", "door.json?from=2&to=2", "door.json?from=3&to=2",
            "door.json?from=1&to=2&from=1", "door.json?from=1&to=2&x=3", "door.json?from=-1&to=2",
            "door.json?from=1&to=99999999999999999", "door.json?from=1&to=99999999999999999999",
            "door.json?from=&to=", "door.json?from=1&to", "door.mkv?from=1&to=2", "door/", "door/-7",
            "door/7?at=1", "door/7.mp4", "door/7.mp4?at=1", "door/7.mp4?at=1&length=0",
            "door/7.mp4?at=1&length=600000001", "door/7.keyframe", "door/7.keyframe?at=1&length=1",
            "door/7.jpg?at=1",
            "door/99999999999999999999", "door/..", "door/../7.x", "door/%zz/7", "/7.mp4",
        ])
    func unknown(target: String) { #expect(Route("/recordings/\(target)") == nil) }

    @Test("a name with an escaped slash is no camera's")
    func slash() {
        #expect(Route("/recordings/..%2f..%2fetc/7") == .recordings(camera: "../../etc", .file(7)))
        #expect(Camera(name: "../../etc", address: .path("/run/live")) == nil)
    }
}
