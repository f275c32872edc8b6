import Files
import Glibc
import Output
import Threading

/// An `OutputFile` that is written in large pieces: created before anything is read, and removed again where
/// nothing came of it.
final class BufferedFile {
    private let file: OutputFile
    private var buffer: [UInt8] = []

    private static let bufferSize = 256 << 10

    /// Creates or opens the file; `-` is standard output.
    init(path: String, overwrite: Bool) throws(OutputError) {
        // Nobody raises it: a pipe's reader is waited for.
        guard let interruption = Interruption() else {
            throw OutputError(.notCreated(errno: EMFILE), output: path)
        }
        file = try OutputFile(path: path, overwrite: overwrite, interruption: interruption)
    }

    /// The path, or "standard output".
    var name: String { file.name }

    /// Which file it is.
    var identity: FileIdentity? { file.identity }

    /// Adds bytes, and writes what has come together where that is much.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        buffer += bytes
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Writes all that is left. The file stays.
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
