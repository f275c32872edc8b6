import CamPlatform
import Glibc
import Output

/// An `OutputFile` that is written in large blocks: created before any input is read, and removed if the command
/// fails.
final class BufferedFile {
    private let file: OutputFile
    private var buffer: [UInt8] = []

    private static let bufferSize = 256 << 10

    /// Creates or opens the file; `-` is standard output.
    init(path: String, overwrite: Bool) throws(OutputError) {
        // Never raised: the wait for a pipe's reader has no end.
        guard let interruption = Interruption() else {
            throw OutputError(.notCreated(errno: EMFILE), output: path)
        }
        file = try OutputFile(path: path, overwrite: overwrite, interruption: interruption)
    }

    /// The path, or "standard output".
    var name: String { file.name }

    /// The file's identity.
    var identity: FileIdentity? { file.identity }

    /// Appends bytes, and writes the buffer once it is large.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        buffer += bytes
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Writes the rest of the buffer and keeps the file.
    func finish() throws(OutputError) {
        try flush()
        file.keep()
        try file.close()
    }

    private func flush() throws(OutputError) {
        try file.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
