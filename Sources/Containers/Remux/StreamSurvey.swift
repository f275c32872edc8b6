import Bitstream
import CamPlatform
import CamSound

/// The properties of a recording that only reading it completely shows.
struct StreamSurvey {
    /// Pictures from the first IDR picture on.
    private(set) var pictureCount = 0
    /// Pictures before it.
    private(set) var undecodableCount = 0
    /// Pictures after it that are left out because of damage.
    private(set) var damagedCount = 0
    /// The capture time of the first picture, if each picture of a raw stream states one.
    let captureStart: WallTime?
    /// The stream as described by the first IDR picture's parameter sets, with its
    /// actual reordering and its sound.
    let description: StreamDescription
    /// The sound that is left out, in words; nil if none is left out.
    let soundRemark: String?

    /// - Parameter range: the part whose sound is declared.
    init(of stream: any PictureStream, _ range: RemuxRange) throws(RemuxError) {
        var parameterSets = StreamParameterSets(codec: stream.codec)
        var meter = ReorderingMeter()
        var (pictureCount, undecodableCount, damagedCount) = (0, 0, 0)
        var (sound, origin) = (SoundSurvey(range), Duration?.none)
        var (captureStart, capturedCount) = (WallTime?.none, 0)
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
                if !stream.hasTimes, let time = picture.captureTime {
                    captureStart = min(captureStart ?? time, time)
                    capturedCount += 1
                }
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
        self.captureStart = capturedCount == pictureCount ? captureStart : nil
        description.sound = sound.description
        (self.description, soundRemark) = (description, sound.remark)
    }
}

extension StreamParameterSets {
    /// Inserts the parameter sets of an IDR picture. Unreadable ones are skipped: the shaper has read as much
    /// of them as it needs to tell pictures apart.
    package mutating func insert(leadingSetsOf unit: AccessUnit) {
        unit.withUnsafeBytes { bytes in
            for set in unit.units.prefix(while: { $0.header.isParameterSet }) {
                _ = try? insert(bytes.bytes.extracting(set.bytes))
            }
        }
    }
}

// MARK: - Sound

/// Chooses the sound that a container declares for a part of a recording: the format at the beginning of the
/// part. The format may change later in a transport stream.
struct SoundSurvey {
    /// The sound to declare; nil if there is none so far.
    private(set) var description: SoundDescription?
    /// When another format begins in the part, from the first picture; nil if none does.
    private(set) var change: Duration?
    private let range: RemuxRange
    private var restart = SoundRestart()
    /// Whether joined recordings after the first have another format.
    private var changesInJoin = false

    /// - Parameter range: the part, from the first picture.
    init(_ range: RemuxRange) { self.range = range }

    /// Takes the next packet.
    /// - Parameters:
    ///   - current: the packet's format.
    ///   - time: the time since the first picture.
    mutating func note(_ current: SoundDescription?, at time: Duration) {
        guard let current else { return }
        restart.note(time)
        if restart.hasRestarted {
            changesInJoin = changesInJoin || current != description
        } else if description == nil || time <= range.start ?? .zero {
            description = current
        } else if current != description, change == nil, range.end.map({ time < $0 }) ?? true {
            change = time
        }
    }

    /// The sound that is left out, in words; nil if none is.
    var remark: String? {
        if restart.hasRestarted, range != RemuxRange() {
            return "left out: sound of recordings after the first, because times restart there; "
                + "to keep it, remux all of it first, and cut that"
        }
        if changesInJoin {
            return "left out: sound of recordings after the first that has another format; "
                + "to keep it, remux each recording separately"
        }
        return change.map { time in
            // Rounded up: the suggested `--from` must not precede the change.
            let seconds = Double((time + .nanoseconds(999_999)).inMilliseconds) / 1000
            return "left out: sound from \(seconds) s on that has another format; "
                + "to keep it, remux that part with --from \(seconds)"
        }
    }
}
