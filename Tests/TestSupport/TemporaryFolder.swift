import CamPlatform
import Glibc

/// A folder that is removed with its owner, including its content.
public final class TemporaryFolder: Sendable {
    /// Its absolute path.
    public let path: String

    /// Creates a folder that nothing else uses.
    public init() {
        var template = Array("/tmp/camrec-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("mkdtemp: \(String(cString: strerror(errno)))") }
        path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// Links to folders are not followed.
    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in Folder.names(in: path) where name != "." && name != ".." { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// The path of a file in it; its own for an empty name.
    public func path(_ name: String) -> String { name.isEmpty ? path : "\(path)/\(name)" }

    /// - Returns: false if there was no room.
    @discardableResult public func write(_ name: String, _ bytes: [UInt8]) -> Bool {
        let descriptor = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// - Returns: false if there was no room.
    @discardableResult public func write(_ name: String, _ text: String) -> Bool {
        write(name, Array(text.utf8))
    }
}
