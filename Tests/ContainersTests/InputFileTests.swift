import Glibc
import TestSupport
import Testing
@testable import Containers

/// Reading a raw recording for conversion.
@Suite struct InputFileTests {
    private let folder = TemporaryFolder()

    @Test("reads on in a growing file; a truncated one is an error")
    func length() throws {
        let path = folder.path("in.h264")
        folder.write("in.h264", Array(repeating: 1, count: 200_000))
        let file = try InputFile(path: path)
        var count = try file.read().count
        truncate(path, 300_000)
        while case let chunk = try file.read(), !chunk.isEmpty { count += chunk.count }
        #expect(count == 300_000)
        file.rewind()
        _ = try file.read()
        truncate(path, 150_000)
        #expect(throws: InputError(.shrunk, input: path)) {
            while case let chunk = try file.read(), !chunk.isEmpty {}
        }
    }
}
