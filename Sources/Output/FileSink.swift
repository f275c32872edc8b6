import Bitstream
import CamPlatform

/// Writes raw Annex B to a file, a named pipe or standard output.
///
/// An existing file is rejected or replaced: it is replaced only when the first access unit arrives. A new
/// file that gets none is removed. If a write fails, the file ends at its last whole access unit. Raw Annex B
/// needs no index: whatever is on the disk can be played.
public final class FileSink: AccessUnitSink {
    private let file: OutputFile

    /// Standard output's name on the command line.
    public static let standardOutput = "-"

    /// Opens `path`, or standard output for `-`.
    /// - Parameters:
    ///   - interruption: ends a wait for a pipe's reader.
    ///   - synchronizer: flushes written data to the disk.
    public init(
        path: String, overwrite: Bool, interruption: Interruption, synchronizer: DiskSynchronizer? = nil
    ) throws(OutputError) {
        file = try OutputFile(
            path: path, overwrite: overwrite, interruption: interruption, synchronizer: synchronizer)
    }

    public var name: String { file.name }

    /// The number of bytes of whole access units.
    public var bytesWritten: Int { file.keptCount }

    /// The identity of the file that it writes.
    public var identity: FileIdentity? { file.identity }

    public func write(_ unit: AccessUnit) throws(OutputError) {
        try unit.withUnsafeBytes { (bytes) throws(OutputError) in try file.writeWhole(bytes) }
    }

    /// An IDR brings its parameter sets, so Annex B simply continues.
    public func beginStream(_ description: StreamDescription) {}

    public func finish() throws(OutputError) { try file.close() }
}
