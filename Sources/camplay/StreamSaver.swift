import Bitstream
import Decoder
import Output
import CamPlatform

/// Saves the received stream, byte for byte, from the first entry point of each connection on.
///
/// A file has one codec, that of its first connection.
final class StreamSaver {
    let file: OutputFile
    private var hasBegun = false
    private var codec: Codec?
    private var hasToldOther = false
    private let warn: (String) -> Void

    init(
        path: String, overwrite: Bool, interruption: Interruption, warn: @escaping (String) -> Void
    ) throws(OutputError) {
        file = try OutputFile(path: path, overwrite: overwrite, interruption: interruption)
        self.warn = warn
    }

    func write(_ unit: borrowing ReceivedAccessUnit) throws(OutputError) {
        if unit.role.allowsEntry, unit.parameterSets.isComplete {
            hasBegun = belongs(unit.parameterSets.codec)
        }
        guard hasBegun else { return }
        try unit.withUnsafeBytes { (bytes) throws(OutputError) in try file.writeWhole(bytes) }
    }

    /// Notes an interruption: what follows is left out until the next entry point.
    func interrupt() { hasBegun = false }

    /// Ends the file.
    func finish() throws(OutputError) { try file.close() }

    /// Whether a stream of this codec belongs in the file.
    private func belongs(_ other: Codec) -> Bool {
        guard let codec else {
            if let named = Codec(fileName: file.name), named != other {
                warn("\(file.name) receives \(other), which does not match its name")
            }
            codec = other
            return true
        }
        if codec != other, !hasToldOther {
            warn("\(file.name): the stream is now \(other), which is not saved: the file holds \(codec)")
            hasToldOther = true
        }
        return codec == other
    }
}
