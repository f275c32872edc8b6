import CFormat

/// What the muxer has written since it was last taken.
final class MuxerMemory: MuxerOutput {
    let name: String
    var bytes: [UInt8] = []
    private(set) var count = 0

    init(name: String) { self.name = name }

    var position: Int { count }
    var keptCount: Int { count }
    var isSeekable: Bool { false }
    var isStaged: Bool { false }

    func write(_ bytes: UnsafeRawBufferPointer) {
        self.bytes += bytes
        count += bytes.count
    }

    func seek(to position: Int) throws(OutputError) {
        throw OutputError(.containerFailed(detail: "it cannot be changed later"), output: name)
    }

    func makeReadBack(_ library: cformat_library) -> UnsafeMutablePointer<AVIOContext>? { nil }
}
