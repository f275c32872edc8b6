import Bitstream

/// The video of a container, read picture by picture at its own times.
final class ContainerStream: PictureStream {
    let path: String
    private let reader: ContainerReader
    private(set) var brokenEnd: String?
    private(set) var remarks: [String] = []

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
        var remarks = Remarks()
        // A damaged picture is left out with everything that may refer to it, up to the next keyframe.
        var problem: String?
        do throws(InputError) { try reader.rewind() } catch { throw .input(error) }
        while !isOver(), let packet = try next() {
            if let found = packet.problem {
                problem = problem ?? "\(found), at \(Double(packet.time ?? 0) / 1e9) s"
            } else if packet.isKeyframe, let damage = problem.take() {
                remarks.endDamage(damage)
            }
            remarks.note(packet, isDamaged: problem != nil)
            guard problem == nil else { continue }
            let bytes = reader.bytes
            var scanner = NALUnitScanner()
            while let unit = scanner.next(in: bytes.span.bytes) {
                try assembler.add(bytes.span.bytes.extracting(unit.bytes), at: 0, time: packet.time, body)
            }
        }
        self.remarks = remarks.sentences(leftOut: reader.leftOut)
        brokenEnd = problem.map {
            remarks.skippedCount == 0 ? $0 : "pictures: \(remarks.skippedCount); \($0)"
        }
        try assembler.finish(body)
    }

    private func next() throws(RemuxError) -> ContainerReader.Packet? {
        do throws(InputError) { return try reader.next() } catch { throw .input(error) }
    }

    /// What there is to say of a container's pictures.
    private struct Remarks {
        private var hiddenCount = 0
        /// Since the latest damage that no keyframe has followed.
        private(set) var skippedCount = 0
        private var damagedCount = 0
        private var damagedPlaces = 0
        private var firstDamage: String?

        mutating func note(_ packet: ContainerReader.Packet, isDamaged: Bool) {
            guard packet.isPicture else { return }
            if isDamaged { skippedCount += 1 } else if packet.isHidden { hiddenCount += 1 }
        }

        /// A keyframe ends the damage.
        mutating func endDamage(_ problem: String) {
            damagedCount += skippedCount
            damagedPlaces += 1
            firstDamage = firstDamage ?? problem
            skippedCount = 0
        }

        func sentences(leftOut: [String]) -> [String] {
            var sentences: [String] = []
            if !leftOut.isEmpty {
                sentences.append(
                    "pictures alone are taken over; left out: \(leftOut.joined(separator: ", "))")
            }
            if hiddenCount > 0 {
                sentences.append("pictures that an edit list hides, and that are taken over: \(hiddenCount)")
            }
            if let firstDamage {
                let place = damagedPlaces == 1 ? "" : ", in \(damagedPlaces) places"
                // Between the damage and the next keyframe there may be nothing that can be read.
                sentences.append(
                    damagedCount == 0
                        ? "left out because of damage\(place): \(firstDamage)"
                        : "pictures left out because of damage, up to the next keyframe: \(damagedCount)\(place); \(firstDamage)"
                )
            }
            return sentences
        }
    }
}
