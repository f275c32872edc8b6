import CFormat

/// Where a container's bytes go. Used by one thread.
protocol MuxerOutput: AnyObject {
    /// The name in messages.
    var name: String { get }
    /// Bytes so far.
    var count: Int { get }
    /// Where the next bytes go.
    var position: Int { get }
    /// Bytes so far that remain, whatever happens.
    var keptCount: Int { get }
    /// Whether earlier bytes can be replaced.
    var isSeekable: Bool { get }
    /// Whether it appears only once it is complete.
    var isStaged: Bool { get }

    func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError)

    func seek(to position: Int) throws(OutputError)

    /// Creates a view for reading what was written, to be freed by `ReadBack.free`; nil if there is none.
    func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>?
}

extension OutputFile: MuxerOutput, ReadableOutput {
    func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? {
        ReadBack.makeContext(self, library)
    }
}
