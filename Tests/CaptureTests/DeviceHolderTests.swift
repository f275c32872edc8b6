import Glibc
import Testing

@testable import Capture

/// Who has a device, according to the kernel's list of locks.
@Suite struct DeviceHolderTests {
    private var node: stat {
        var node = stat()
        // Major 0, minor 5.
        node.st_dev = 5
        node.st_ino = 326
        return node
    }

    @Test("the line of the node's own lock names its holder")
    func holder() {
        let line = "3: FLOCK  ADVISORY  WRITE 4711 00:05:326 0 EOF\n"
        #expect(DeviceHolder.lockHolder(of: node, in: line) == 4711)
    }

    @Test(
        "any other line names nobody",
        arguments: [
            "", "3: FLOCK", "3: POSIX  ADVISORY  WRITE 4711 00:05:326 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 4711 00:06:326 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 4711 00:05:327 0 EOF",
            "3: -> FLOCK  ADVISORY  WRITE 4711 00:05:326 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 0 00:05:326 0 EOF",
            "3: FLOCK  ADVISORY  WRITE -1 00:05:326 0 EOF", "3: FLOCK  ADVISORY  WRITE x 00:05:326 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 4711 00:05 0 EOF", "3: FLOCK  ADVISORY  WRITE 4711 zz:05:326 0 EOF",
        ])
    func nobody(line: String) {
        #expect(DeviceHolder.lockHolder(of: node, in: line) == nil)
    }
}
