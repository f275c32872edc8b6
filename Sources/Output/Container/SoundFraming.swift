import CamSound
import CamPlatform

/// Turns a container's packets of sound into those that are written elsewhere: without what a transport stream puts before
/// each, and with times that no container's clock has rounded.
struct SoundFraming {
    /// What the packets are; nil until that is known.
    private(set) var description: SoundDescription?

    private let declared: SoundDescription
    /// When the first packet of an even row began, and the frames since then.
    private var row: (start: Duration, frames: Int)?

    /// A container's times are off by this much at most: Matroska counts in milliseconds.
    private static let rounding = Duration.microseconds(1_500)
    /// What is further from the sound before it and from the pictures has a wrong time, or begins another recording.
    private static let farthest = Duration.seconds(60)
    /// A larger packet is none: raw samples of a second have less.
    static let largestPacket = 1 << 20
    /// More is no sound (`SoundEncoder` and libavcodec know no more channels).
    private static let (highestRate, mostChannels) = (768_000, 8)

    /// - Parameter declared: what the container says.
    init(_ declared: SoundDescription) {
        var format = declared.format
        if declared.codec == .opus {
            // A transport stream says no more than this (RFC 7845, 5.1).
            format.rate = SoundCodec.rate
            if format.channels == 0, declared.configuration.count > 9 {
                format.channels = Int(declared.configuration[9])
            }
        }
        self.declared = declared.with(format, declared.configuration)
        description = Self.isUsable(self.declared) ? self.declared : nil
    }

    /// Whether the rate and the channels can be; a transport stream may say neither.
    static func canBe(_ format: SoundFormat) -> Bool {
        (0...highestRate).contains(format.rate) && (0...mostChannels).contains(format.channels)
    }

    /// Returns a packet; nil if it is none, or there is no memory.
    /// - Parameters:
    ///   - time: when it begins, as the container has it, since the first picture; nil if it follows the last one, as
    ///     within a transport stream's packets of several.
    mutating func packet(_ bytes: UnsafeRawBufferPointer, at time: Duration?) -> SoundPacket? {
        var content = bytes
        if declared.codec == .aac, declared.configuration.isEmpty {
            guard let header = ADTSHeader(bytes) else { return nil }
            content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(header.byteCount))
            if description?.configuration != header.configuration {
                description = declared.with(header.format, header.configuration)
            }
        }
        guard let description, (1...Self.largestPacket).contains(content.count) else { return nil }
        let frames =
            description.codec.frameCount(of: content.bytes, configuration: description.configuration) ?? 0
        guard let begun = begin(at: time, frames: frames, description.format) else { return nil }
        return SoundPacket(
            Array(content), timestamp: .start + begun,
            duration: description.format.duration(of: frames))
    }

    /// Whether a time is far from both the sound before it and the pictures.
    /// - Parameters:
    ///   - time: as the container has it, since the first picture.
    ///   - picture: the time of the latest picture.
    func isStray(_ time: Duration, near picture: Duration?) -> Bool {
        guard let row, let picture, let description else { return false }
        let expected = row.start + description.format.duration(of: row.frames)
        return (time - expected).magnitude > Self.farthest && (time - picture).magnitude > Self.farthest
    }

    /// Notes that packets are missing.
    mutating func interrupt() { row = nil }

    private mutating func begin(at time: Duration?, frames: Int, _ format: SoundFormat) -> Duration? {
        if let row {
            let expected = row.start + format.duration(of: row.frames)
            if (expected - (time ?? expected)).magnitude <= Self.rounding {
                self.row = (row.start, row.frames + frames)
                return expected
            }
        }
        row = time.map { ($0, frames) }
        return time
    }

    private static func isUsable(_ description: SoundDescription) -> Bool {
        let format = description.format
        guard canBe(format), format.rate > 0, format.channels > 0 else { return false }
        // AAC without it comes with headers in its packets.
        return description.codec != .aac || !description.configuration.isEmpty
    }
}

extension SoundDescription {
    fileprivate func with(_ format: SoundFormat, _ configuration: [UInt8]) -> SoundDescription {
        SoundDescription(
            codec: codec, format: format, bitRate: bitRate, configuration: configuration,
            packetFrames: packetFrames)
    }
}
