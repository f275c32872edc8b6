import Bitstream

/// The video of a container, read picture by picture at its own times.
final class ContainerStream: PictureStream {
    let path: String
    private let reader: ContainerReader
    private(set) var brokenEnd: String?

    init(path: String) throws(InputError) {
        self.path = path
        reader = try ContainerReader(path: path)
    }

    var identity: FileIdentity? { reader.identity }
    var codec: Codec { reader.codec }
    var hasTimes: Bool { true }

    func forEachPicture(
        isOver: () -> Bool, _ body: (StreamPicture?) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var assembler = PictureAssembler(codec: codec, path: path)
        var problem: String?
        do throws(InputError) { try reader.rewind() } catch { throw .input(error) }
        while !isOver(), let packet = try next() {
            // The last picture of a recording that was cut is left out; any other is missed.
            if let problem { throw .input(InputError(.malformed(problem), input: path)) }
            problem = packet.problem.map { "\($0), at \(Double(packet.time ?? 0) / 1e9) s" }
            guard problem == nil else { continue }
            let bytes = reader.bytes
            var scanner = NALUnitScanner()
            while let unit = scanner.next(in: bytes.span.bytes) {
                try assembler.add(bytes.span.bytes.extracting(unit.bytes), at: 0, time: packet.time, body)
            }
        }
        brokenEnd = problem
        try assembler.finish(body)
    }

    private func next() throws(RemuxError) -> ContainerReader.Packet? {
        do throws(InputError) { return try reader.next() } catch { throw .input(error) }
    }
}
