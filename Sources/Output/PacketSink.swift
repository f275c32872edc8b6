import Bitstream

/// Where access units go. Used by one thread, its writer.
public protocol PacketSink: AnyObject {
    /// What it is called in messages.
    var name: String { get }

    /// Which file it writes; nil where that is none, or it is closed.
    var identity: FileIdentity? { get }

    /// Writes an access unit, whole or not at all.
    func write(_ unit: AccessUnit) throws(OutputError)

    /// Ends the output. Nothing more is written.
    func finish() throws(OutputError)
}
