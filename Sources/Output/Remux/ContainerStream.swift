import Bitstream
import CamPlatform
import CamSound

/// A container's video, read picture by picture with its own times, and its sound.
final class ContainerStream: PictureStream {
    let path: String
    private let reader: ContainerReader
    private(set) var damage: [StreamDamage] = []
    private(set) var remarks: [String] = []

    init(path: String) throws(InputError) {
        self.path = path
        reader = try ContainerReader(path: path, takesSound: true)
    }

    /// Reads an open file. The caller keeps it, and keeps it open as long as this exists.
    init(descriptor: Int32, name: String, interruption: Interruption?) throws(InputError) {
        path = name
        reader = try ContainerReader(
            descriptor: descriptor, name: name, takesSound: true, interruption: interruption)
    }

    var identity: FileIdentity? { reader.identity }
    var codec: Codec { reader.codec }
    var hasTimes: Bool { true }
    var sound: SoundDescription? { reader.sound }
    var metadata: FileMetadata { reader.metadata }

    func forEach(
        near start: Duration, isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var assembler = PictureAssembler(codec: codec, path: path)
        // A damaged picture is left out, along with everything that may refer to it, up to the next keyframe.
        var damage = StreamDamage()
        var (hiddenCount, hasSound) = (0, false)
        try RemuxError.ofInput { () throws(InputError) in
            if start > .zero { try reader.seek(to: start) } else { try reader.rewind() }
        }
        while !isOver(), let packet = try next() {
            if let sound = packet.sound {
                hasSound = true
                try body(.sound(sound))
                continue
            }
            if let found = packet.problem {
                damage.begin("\(found), at \((packet.time ?? .zero).inSeconds) s")
            } else if packet.isKeyframe {
                damage.end()
            }
            guard damage.open == nil else {
                if packet.isPicture { damage.leaveOut() }
                continue
            }
            if packet.isHidden { hiddenCount += 1 }
            let bytes = reader.bytes
            var scanner = NALUnitScanner()
            while let unit = scanner.next(in: bytes.span.bytes) {
                try assembler.add(bytes.span.bytes.extracting(unit.bytes), at: 0, time: packet.time, body)
            }
        }
        try assembler.finish(body)
        self.damage = [damage, assembler.damage]
        remarks = self.remarks(hiddenCount)
        if reader.hasSound, !hasSound {
            remarks.append("left out: its sound, of which no packet can be read")
        }
    }

    /// The time of the last picture that is shown, as near to the end as the container can find its keyframes.
    func lastTime(isOver: () -> Bool) throws(RemuxError) -> Duration {
        try RemuxError.ofInput { () throws(InputError) in
            try reader.seek(to: Self.beyondEnd)
            var last = Duration.zero
            while !isOver(), let packet = try reader.next() {
                if packet.isPicture { last = max(last, packet.time ?? .zero) }
            }
            return last
        }
    }

    /// Later than the end of any file.
    private static let beyondEnd = Duration.seconds(1 << 30)

    private func next() throws(RemuxError) -> ContainerReader.Packet? {
        do throws(InputError) { return try reader.next() } catch { throw .input(error) }
    }

    private func remarks(_ hiddenCount: Int) -> [String] {
        var sentences: [String] = []
        if !reader.leftOut.isEmpty {
            sentences.append(
                "left out: \(reader.leftOut.joined(separator: ", "))")
        }
        if hiddenCount > 0 {
            sentences.append("pictures copied although an edit list hides them: \(hiddenCount)")
        }
        return sentences
    }
}
