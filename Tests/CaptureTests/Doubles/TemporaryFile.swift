import Files
import Glibc

@testable import Capture

/// A file of some bytes that is gone with its owner.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8], suffix: String = ".y4m") {
        var template = Array("/tmp/camrec-test-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
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

/// A folder with files and links that is gone with its owner.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/camrec-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        // Fails for a folder that holds something, and does not follow a link.
        if Glibc.remove(path) == 0 { return }
        for name in Folder.names(in: path) where name != "." && name != ".." { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Makes a folder in it, with those that it is in.
    func makeFolder(_ name: String) throws {
        try Folder.make("\(path)/\(name)")
    }

    func link(_ name: String, to target: String) throws {
        guard symlink(target, "\(path)/\(name)") == 0 else { throw Errno(code: errno) }
    }

    func write(_ name: String, _ text: String) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
            throw Errno(code: errno)
        }
    }
}
