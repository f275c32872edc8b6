import CFormat
import Files
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
            // A file without a name needs none.
            location = try FileLocation("\(folder)/unnamed")
        } catch { throw OutputError(.notCreated(errno: error.errno), output: name) }
        descriptor = location.openUnnamed(mode: 0o600)
        guard descriptor >= 0 else { throw OutputError(.notCreated(errno: errno), output: name) }
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
