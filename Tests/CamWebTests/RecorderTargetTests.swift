import CamNetworking
import Testing

@testable import CamWeb

@Suite("what a request wants of a recorder")
struct RecorderTargetTests {
    @Test("figures, controls, findings, a picture, and a form")
    func known() {
        #expect(Route("/cameras/door/stats.json") == .recorder(camera: "door", .statistics))
        #expect(Route("/cameras/front%20door/controls.json") == .recorder(camera: "front door", .controls))
        #expect(Route("/cameras/door/doctor.json?x=1") == .recorder(camera: "door", .findings))
        #expect(Route("/cameras/door/kept.json") == .recorder(camera: "door", .kept))
        #expect(Route("/cameras/door/snapshot.jpg") == .recorder(camera: "door", .snapshot))
        #expect(Route("/cameras/door/command") == .recorder(camera: "door", .command))
        #expect(Route("/metrics") == .metrics)
    }

    @Test(
        "nothing else",
        arguments: [
            "/cameras/", "/cameras/door", "/cameras/door/", "/cameras/door/stats", "/cameras/door/stop",
            "/cameras/%zz/stats.json", "/cameras/door/Command", "/metrics/",
        ])
    func unknown(target: String) { #expect(Route(target) == nil) }

    @Test("only a form that changes something may have a body")
    func forms() {
        #expect(Route("/cameras/door/command")?.takesForm == true)
        #expect(Route("/cameras/door/stats.json")?.takesForm == false)
        #expect(Route("/metrics")?.takesForm == false)
    }
}

@Suite("what the page may change")
struct RecorderCommandTests {
    private func command(_ form: String) -> RecorderCommand? {
        FormBody(form.utf8).flatMap { RecorderCommand($0) { $0.contains("..") ? nil : "/rec/\($0)" } }
    }

    private func line(_ form: String) -> String? { command(form)?.line }

    @Test("a recording to keep or to release, or a range of them, and what to type if no recorder runs")
    func keeping() {
        #expect(line("command=keep&first=2026/a.mkv") == "keep /rec/2026/a.mkv")
        #expect(line("command=release&first=a%20b.mkv&last=c.mkv") == "release /rec/a b.mkv\t/rec/c.mkv")
        #expect(command("command=keep&first=a.mkv")?.substitute == "camrec keep /rec/a.mkv")
        #expect(
            command("command=release&first=a%27b.mkv&last=c.mkv")?.substitute
                == "camrec keep --release --to /rec/c.mkv '/rec/a'\\''b.mkv'")
        #expect(command("command=pause")?.substitute == nil)
    }

    @Test(
        "a name that no recording can have, or too long a line, is refused",
        arguments: [
            "command=keep", "command=keep&last=a.mkv", "command=keep&first=../a.mkv", "command=kept",
            "command=release&first=a.mkv&last=../b.mkv",
            "command=keep&first=" + String(repeating: "a", count: 1000),
        ])
    func keepingRefused(form: String) { #expect(line(form) == nil) }

    @Test(
        "each command of the page",
        arguments: [
            ("command=keyframe", "keyframe"), ("command=trigger", "trigger"), ("command=pause", "pause"),
            ("command=resume", "resume"), ("command=bitrate&value=2.5M", "bitrate 2.5M"),
            ("command=control&name=brightness&value=-12", "control brightness=-12"),
            ("command=control&name=power_line_frequency&value=50+Hz", "control power_line_frequency=50 Hz"),
        ])
    func commands(form: String, expected: String) { #expect(line(form) == expected) }

    @Test(
        "nothing that would be another command, or none",
        arguments: [
            "", "command=stop", "command=stats", "command=", "command=keyframe%0Astop", "command=bitrate",
            "command=bitrate&value=", "command=bitrate&value=1M%0Astop", "command=bitrate&value=1M+2M",
            "command=bitrate&value=11111111111111111", "command=control&name=a", "command=control&value=1",
            "command=control&name=&value=1", "command=control&name=a%0Ab&value=1",
            "command=control&name=a&value=1%0Astop", "command=control&name=a&value=1%00",
            "command=control&name=a&value=1,b=2", "command=control&name=A&value=1",
        ])
    func refusals(form: String) { #expect(line(form) == nil) }

    @Test("a value that would fill the recorder's line is refused")
    func longest() {
        let text = String(repeating: "a", count: 256)
        #expect(line("command=control&name=a&value=\(text)") != nil)
        #expect(line("command=control&name=a&value=\(text)a") == nil)
    }
}
