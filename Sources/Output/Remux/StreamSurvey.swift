import Bitstream
import CamPlatform

/// What reading a recording completely reveals about it.
struct StreamSurvey {
    /// Pictures from the first IDR picture on.
    private(set) var pictureCount = 0
    /// Pictures before it.
    private(set) var undecodableCount = 0
    /// Pictures after it that are left out because of damage.
    private(set) var damagedCount = 0
    /// What the first IDR picture's parameter sets state, how far the stream actually reorders, and its sound.
    let description: StreamDescription
    /// What is left out of the sound, in words; nil if nothing is.
    let soundRemark: String?

    /// - Parameter range: the part whose sound is declared.
    init(of stream: any PictureStream, _ range: RemuxRange) throws(RemuxError) {
        var parameterSets = StreamParameterSets(codec: stream.codec)
        var meter = ReorderingMeter()
        var (pictureCount, undecodableCount, damagedCount) = (0, 0, 0)
        var (sound, origin) = (SoundSurvey(range), Duration?.none)
        try stream.forEach { (piece) throws(RemuxError) in
            switch piece {
            case .undecodable: undecodableCount += 1
            case .sound(let packet):
                let time: Duration = packet.timestamp - .start
                sound.note(stream.sound, at: time - (origin ?? time))
            case .picture(let picture):
                if origin == nil { origin = picture.time }
                meter.append(picture.order)
                guard let unit = picture.unit else { return damagedCount += 1 }
                if pictureCount == 0 { parameterSets.insert(leadingSetsOf: unit) }
                pictureCount += 1
            }
        }
        guard var description = StreamDescription(parameterSets, reordering: meter.reordering) else {
            let damage = stream.damage.compactMap(\.first).first.map { " (damage: \($0))" } ?? ""
            throw .input(
                InputError(
                    .malformed("there is no IDR picture to begin with\(damage); camplay may still play it"),
                    input: stream.path))
        }
        (self.pictureCount, self.undecodableCount) = (pictureCount, undecodableCount)
        self.damagedCount = damagedCount
        description.sound = sound.description
        (self.description, soundRemark) = (description, sound.remark)
    }
}

extension StreamParameterSets {
    /// Inserts the parameter sets of an IDR picture. Unreadable ones are skipped: the shaper has read as much
    /// of them as it needs to tell pictures apart.
    mutating func insert(leadingSetsOf unit: AccessUnit) {
        unit.withUnsafeBytes { bytes in
            for set in unit.units.prefix(while: { $0.header.isParameterSet }) {
                _ = try? insert(bytes.bytes.extracting(set.bytes))
            }
        }
    }
}
