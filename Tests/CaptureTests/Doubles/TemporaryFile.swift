import CamPlatform
import Glibc
import TestSupport

@testable import Capture

/// A file with some bytes that is removed with its owner.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8], suffix: String = ".y4m") {
        var template = Array("/tmp/camrec-test-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            written += count
        }
        close(descriptor)
    }

    deinit { unlink(path) }
}

extension TemporaryFolder {
    /// Creates a folder in it, with its parents.
    func makeFolder(_ name: String) throws {
        try Folder.make("\(path)/\(name)")
    }

    func link(_ name: String, to target: String) throws {
        guard symlink(target, "\(path)/\(name)") == 0 else { throw Errno(code: errno) }
    }
}
