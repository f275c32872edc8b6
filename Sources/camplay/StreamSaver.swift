import Decoder
import Output
import Threading

/// The stream as it was received, byte for byte, from the first entry point of each connection on.
final class StreamSaver {
    let file: OutputFile
    private var hasBegun = false

    init(path: String, overwrite: Bool, interruption: Interruption) throws(OutputError) {
        file = try OutputFile(path: path, overwrite: overwrite, interruption: interruption)
    }

    func write(_ unit: borrowing ReceivedAccessUnit) throws(OutputError) {
        if unit.isEntryPoint, unit.parameterSets.isComplete { hasBegun = true }
        guard hasBegun else { return }
        do throws(OutputError) {
            try unit.withUnsafeBytes { (bytes) throws(OutputError) in try file.write(bytes) }
        } catch {
            file.abandon()
            throw error
        }
        file.keep()
    }

    /// What comes next continues nothing: it is left out until the next entry point.
    func interrupt() { hasBegun = false }

    /// Ends the file.
    func finish() throws(OutputError) { try file.close() }
}
