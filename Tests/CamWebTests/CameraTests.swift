import Testing

@testable import CamWeb

@Suite("cameras on the command line")
struct CameraTests {
    @Test(
        "addresses, with names or without",
        arguments: [
            ("tcp://127.0.0.1:9982", "127.0.0.1:9982", "tcp://127.0.0.1:9982"),
            ("tcp://9983", "127.0.0.1:9983", "tcp://127.0.0.1:9983"),
            ("unix:/run/camrec/door/live", "door", "unix:/run/camrec/door/live"),
            ("unix:garden.socket", "garden.socket", "unix:garden.socket"),
            ("unix:/live", "live", "unix:/live"),
            ("unix:./live", "live", "unix:./live"),
            ("unix:../door/live", "door", "unix:../door/live"),
            ("unix:/run/door/../live", "door", "unix:/run/door/../live"),
            ("front door=tcp://camera:1", "front door", "tcp://camera:1"),
            ("door=unix:/a=b", "door", "unix:/a=b"),
        ])
    func read(text: String, name: String, address: String) throws {
        let camera = try #require(Camera(text))
        #expect(camera.name == name)
        #expect("\(camera.address)" == address)
    }

    @Test("the recorder's control socket, after the address")
    func control() throws {
        let door = try #require(Camera("unix:/run/camrec/door/live,control=/run/camrec/door/control"))
        #expect(door.name == "door")
        #expect("\(door.address)" == "unix:/run/camrec/door/live")
        #expect(door.control == "/run/camrec/door/control")
        let garden = try #require(Camera("garden=tcp://127.0.0.1:9983,control=a=b"))
        #expect((garden.name, garden.control) == ("garden", "a=b"))
        #expect(Camera("tcp://1")?.control == nil)
    }

    @Test("the address of a smaller stream, before the control socket")
    func small() throws {
        let door = try #require(Camera("door=tcp://1,small=unix:/run/small,control=/run/control"))
        #expect("\(door.address)" == "tcp://127.0.0.1:1")
        #expect(door.smallAddress.map { "\($0)" } == "unix:/run/small")
        #expect(door.control == "/run/control")
        #expect(try #require(Camera("tcp://1,small=tcp://2")).name == "127.0.0.1:1")
        #expect(try #require(Camera("tcp://1")).smallAddress == nil)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "tcp://1,small=", "tcp://1,control=/c,small=tcp://2", "tcp://1,small=2", "small=",
            "tcp://1,small=tcp://2,small=tcp://3",
            "tcp://1,small=unix:/a,mode=660", ",small=tcp://1", "tcp://1,Small=tcp://2",
            "", "door", ".=tcp://1", "..=tcp://1", "unix:/run/door/live,mode=660", "unix:/a,ctrl=/b",
            "unix:/a,control-socket=/b",
            "a=unix:/a,controls=/b", "tcp://",
            "tcp://127.0.0.1:0", "tcp://a b",
            "http://127.0.0.1:9982", "unix:",
            "=tcp://1", "tcp://1,control=", ",control=a", "tcp://1,controls=a",
            "tcp://1,control=" + String(repeating: "a", count: 200),
            "a/b=tcp://1", "a\u{7}=tcp://1", "a\u{202E}=tcp://1",
            "unix:" + String(repeating: "a", count: 200),
            String(repeating: "a", count: 101) + "=tcp://1",
        ])
    func refused(text: String) { #expect(Camera(text) == nil) }
}
