import CamNetworking
import Testing

@Suite("sockets in the file system, with who may connect")
struct SocketFileTests {
    @Test("a path, alone or with a mode")
    func read() throws {
        let plain = try #require(SocketFile("/run/camrec/door/control"))
        #expect((plain.path, plain.mode) == ("/run/camrec/door/control", 0o600))
        let shared = try #require(SocketFile("control,mode=660"))
        #expect((shared.path, shared.mode) == ("control", 0o660))
        // After unix:, digits alone would be a port.
        #expect(SocketFile("9982")?.path == "9982")
    }

    @Test(
        "anything else is refused, with what to write",
        arguments: [
            ("", "the path is missing"), ("@name", "write ./@name"), ("a,b", "write a,mode=660"),
            ("a,mode=9", "write a,mode=660"), ("a,mode=060", "must let the owner write"),
            ("a,mode=1660", "octal"), ("a,mode=660,mode=600", "write a,mode=660"),
        ])
    func refused(text: String, part: String) throws {
        #expect(SocketFile(text) == nil)
        #expect(try #require(SocketFile.complaint(about: text)).contains(part))
    }
}
