import CFormat
import CamPlatform
import Glibc

/// A file without a name, which is gone with its last descriptor: for a result that must be complete before it can be
/// sent. Used by one thread.
public final class UnnamedFile {
    /// Open for reading and writing.
    public let descriptor: Int32
    /// Bytes so far.
    public private(set) var count = 0
    let name: String
    private(set) var position = 0
    private let limit: Int

    /// Creates a file.
    /// - Parameters:
    ///   - folder: where its content is stored.
    ///   - limit: the most bytes that it may have.
    public init(in folder: String, limit: Int) throws(OutputError) {
        (name, self.limit) = ("a temporary file in \(folder)", limit)
        let location: FileLocation
        do throws(FileLocation.Failure) {
            location = try FileLocation("\(folder)/.unnamed-\(UInt64.random(in: 0 ... .max))")
        } catch { throw OutputError(.notCreated(errno: error.errno), output: name) }
        descriptor = Self.open(location)
        guard descriptor >= 0 else { throw OutputError(.notCreated(errno: errno), output: name) }
    }

    private static func open(_ location: FileLocation) -> Int32 {
        let descriptor = location.openUnnamed(mode: 0o600)
        // Some file systems have no such files; there it loses its name at once.
        guard descriptor < 0, errno == EOPNOTSUPP || errno == EISDIR else { return descriptor }
        let named = location.open(O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        if named >= 0 { location.unlink() }
        return named
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

extension UnnamedFile: MuxerOutput, ReadableOutput {
    var keptCount: Int { 0 }
    var isSeekable: Bool { true }
    var isStaged: Bool { true }

    func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        guard bytes.count <= limit - position else { throw OutputError(.tooLarge, output: name) }
        var rest = bytes
        while !rest.isEmpty {
            let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(position))
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw OutputError(writeFailed: errno, output: name) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            position += written
            count = max(count, position)
        }
    }

    func seek(to position: Int) { self.position = position }

    func read(into room: UnsafeMutableRawBufferPointer, at position: Int) -> Int {
        pread(descriptor, room.baseAddress, room.count, off_t(position))
    }

    func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? {
        ReadBack.makeContext(self, library)
    }
}
