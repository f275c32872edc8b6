import Files
import Glibc
import TestSupport
import Testing

@testable import Output

/// A file that has no name until it is complete.
@Suite struct StagedFileTests {
    private let folder = TemporaryFolder()

    /// Hidden ones, too.
    private var allNames: [String] {
        Folder.names(in: folder.path("")).filter { ![".", ".."].contains($0) }
    }

    @Test("shows nothing until it is published, and leaves nothing otherwise", arguments: [false, true])
    func unnamed(isPublished: Bool) throws {
        let location = try FileLocation(folder.path("out.mp4"))
        let probe = location.openUnnamed(mode: 0o600)
        if probe >= 0 { close(probe) }
        do {
            let file = try StagedFile(at: location)
            #expect(write(file.descriptor, "whole", 5) == 5)
            // If the file system cannot create files without names, there is a hidden one.
            #expect(probe >= 0 ? allNames == [] : allNames.allSatisfy { $0.hasPrefix(".camrec-") })
            if isPublished { try file.publish(overwrite: false) }
            close(file.descriptor)
        }
        #expect(allNames == (isPublished ? ["out.mp4"] : []))
        #expect(folder.content("out.mp4") == (isPublished ? Array("whole".utf8) : nil))
    }
}
