import Bitstream

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

    init(of stream: any PictureStream) throws(RemuxError) {
        var parameterSets = StreamParameterSets(codec: stream.codec)
        var meter = ReorderingMeter()
        var (pictureCount, undecodableCount, damagedCount) = (0, 0, 0)
        var hasSound = false
        try stream.forEach { (piece) throws(RemuxError) in
            switch piece {
            case .undecodable: undecodableCount += 1
            case .sound: hasSound = true
            case .picture(let picture):
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
        description.sound = hasSound ? stream.sound : nil
        self.description = description
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
