import Bitstream
import CamPlatform
import CamSound

/// A picture, with both of its fields if it has two.
struct StreamPicture {
    /// Nil if the picture is left out because it is damaged or follows a
    /// damaged one; its place in time remains.
    let unit: AccessUnit?
    let order: PictureOrderCounter.Order
    /// The presentation time; nil if the recording states none.
    var time: Duration?
    /// When it was captured, as the picture itself states; nil if it does not.
    var captureTime: WallTime? { unit?.captureTime }
}

/// What a recording has next.
enum StreamPiece {
    case picture(StreamPicture)
    /// A picture before the first IDR, which cannot be decoded.
    case undecodable
    /// Sound, on the pictures' clock.
    case sound(SoundPacket)
}

/// A recording that can be read picture by picture, any number of times.
protocol PictureStream: AnyObject {
    /// The file's name.
    var path: String { get }
    /// The file's identity.
    var identity: FileIdentity? { get }
    /// Its coding standard.
    var codec: Codec { get }
    /// Whether its pictures have their own times.
    var hasTimes: Bool { get }
    /// The recording's sound, known after it has been read completely; nil if no sound can be copied.
    var sound: SoundDescription? { get }
    /// The file's metadata.
    var metadata: FileMetadata { get }
    /// The unreadable end, in words, known after the recording has been read
    /// completely; nil if there is none.
    var brokenEnd: String? { get }
    /// The damage, one value for each reader that found some, known after the
    /// recording has been read completely.
    var damage: [StreamDamage] { get }
    /// Other content that is not preserved, in words, known after the recording has been read completely.
    var remarks: [String] { get }

    /// Reads the recording.
    /// - Parameters:
    ///   - start: reading may begin at a keyframe before this time, from the first picture.
    ///   - isOver: called now and then; true ends the reading.
    ///   - body: called for each picture in decoding order and for each packet of
    ///     sound, in the order of the file.
    func forEach(
        near start: Duration, isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError)
}

extension PictureStream {
    var brokenEnd: String? { damage.compactMap(\.atEnd).first }

    /// A raw stream has no sound.
    var sound: SoundDescription? { nil }

    /// A raw stream has no metadata.
    var metadata: FileMetadata { FileMetadata() }

    /// A raw stream is preserved completely.
    var remarks: [String] { [] }

    func forEach(
        isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        try forEach(near: .zero, isOver: isOver, body)
    }

    func forEach(_ body: (StreamPiece) throws(RemuxError) -> Void) throws(RemuxError) {
        try forEach(isOver: { false }, body)
    }
}

// MARK: - Containers

/// A container's video, read picture by picture with the container's times, and its sound.
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
    init(descriptor: Int32, name: String, cancellation: CancellationFlag?) throws(InputError) {
        path = name
        reader = try ContainerReader(
            descriptor: descriptor, name: name, takesSound: true, cancellation: cancellation)
    }

    var identity: FileIdentity? { reader.identity }
    var codec: Codec { reader.codec }
    var hasTimes: Bool { true }
    var sound: SoundDescription? { reader.sound }
    var metadata: FileMetadata { reader.metadata }

    func forEach(
        near start: Duration, isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var pictures = ShapedPictures(codec: codec, path: path)
        // A damaged picture is left out, along with all pictures up to the
        // next keyframe, which may refer to it.
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
                try pictures.add(bytes.span.bytes.extracting(unit.bytes), at: 0, time: packet.time, body)
            }
        }
        try pictures.finish(body)
        self.damage = [damage, pictures.damage]
        remarks = self.remarks(hiddenCount)
        if reader.hasSound, !hasSound {
            remarks.append("left out: its sound, because no packet can be read")
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

// MARK: - Raw streams

/// A file with a raw stream of either codec, as Annex B or AVCC, read picture by picture.
///
/// Memory use is bounded by the largest picture, whatever the file.
final class RawStream: PictureStream {
    let codec: Codec
    private let file: InputFile
    private let framing: NALUnitSource.Framing
    private(set) var damage: [StreamDamage] = []
    /// The data after the last NAL unit, in words; nil if there is none.
    private var tail: String?
    /// Parameter sets that are missing from the file, in its framing.
    private let missingSets: [UInt8]

    /// The largest NAL unit and the largest picture accepted, in bytes; level 6.2 has no larger ones.
    static let maximumByteCount = 64 << 20

    /// Opens the file and detects its codec.
    /// - Parameter record: the configuration stored separately from an AVCC stream.
    convenience init(path: String, record: DecoderConfigurationRecord? = nil) throws(InputError) {
        try self.init(try InputFile(path: path), record: record)
    }

    /// Detects the codec of an open file.
    init(_ file: InputFile, record: DecoderConfigurationRecord? = nil) throws(InputError) {
        self.file = file
        let path = file.path
        let head = try file.read()
        if let record {
            (codec, framing) = (record.codec, .lengthPrefixed(record.lengthSize))
            missingSets = record.prefix(ofStreamBeginningWith: head.bytes)
            return
        }
        missingSets = []
        switch StreamKind(head: head.bytes, isWhole: head.count < StreamKind.decisiveByteCount) {
        case .stream(let codec, let framing)?: (self.codec, self.framing) = (codec, framing)
        case .container(let kind)?:
            throw InputError(.malformed("this is \(kind), not a raw stream"), input: path)
        case .other(let kind)?:
            throw InputError(
                .malformed("this is \(kind); remux takes .h264, .h265, .avcc, .mkv, .mp4 and .ts"),
                input: path)
        case .empty?: throw InputError(.malformed("it is empty; give a recording"), input: path)
        default:
            throw InputError(
                .malformed(
                    "no H.264 or H.265 found; check with camrec inspect --codec h264, or hevc"),
                input: path)
        }
    }

    var path: String { file.path }
    var identity: FileIdentity? { file.identity }
    var hasTimes: Bool { false }
    var brokenEnd: String? { tail ?? damage.compactMap(\.atEnd).first }

    /// A raw stream can be read only from its beginning.
    func forEach(
        near start: Duration, isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var source = NALUnitSource(framing, maximumUnitByteCount: Self.maximumByteCount)
        var pictures = ShapedPictures(codec: codec, path: path)
        file.rewind()
        func take(_ chunk: RawSpan, isLast: Bool) throws(RemuxError) {
            try source.parse(chunk, isLast: isLast) { (piece, nalUnit) throws(RemuxError) in
                guard let problem = piece.problem else {
                    return try pictures.add(nalUnit, at: piece.place.offset, body)
                }
                if problem.isTail { return tail = "\(problem)" }
                throw .input(InputError(.malformed("\(problem)"), input: path))
            }
        }
        let sets = missingSets
        try take(sets.span.bytes, isLast: false)
        var isAtEnd = false
        while !isAtEnd, !isOver() {
            let chunk: UnsafeRawBufferPointer
            do throws(InputError) { chunk = try file.read() } catch { throw .input(error) }
            isAtEnd = chunk.isEmpty
            try take(chunk.bytes, isLast: isAtEnd)
        }
        if isAtEnd { try pictures.finish(body) }
        damage = [pictures.damage]
    }
}

// MARK: - Damage

/// The damage in a recording. A damaged picture is left out, and so is everything up to the next keyframe, which may
/// refer to it.
struct StreamDamage {
    /// The first damage found, in words; nil if there was none.
    private(set) var first: String?
    /// The damage that no keyframe has followed yet, in words; nil if there is none.
    private(set) var open: String?
    /// The number of pictures left out since the open damage.
    private(set) var openCount = 0
    private var count = 0
    private var places = 0

    /// Records damage. Everything up to the next keyframe counts as one place.
    mutating func begin(_ problem: @autoclosure () -> String) {
        if open != nil { return }
        open = problem()
        first = first ?? open
        places += 1
    }

    /// Leaves a picture out.
    mutating func leaveOut() { openCount += 1 }

    /// Notes a keyframe, which ends the damage.
    mutating func end() {
        count += openCount
        (open, openCount) = (nil, 0)
    }

    /// A description of damage that keyframes followed; nil if there was none.
    var sentence: String? {
        // Damage that no keyframe follows belongs to `atEnd`.
        let places = places - (open == nil ? 0 : 1)
        guard places > 0, let first else { return nil }
        let place = places == 1 ? "" : ", in \(places) places"
        // Between the damage and the next keyframe there may be nothing readable.
        return count == 0
            ? "left out because of damage\(place): \(first)"
            : "pictures left out because of damage, up to the next keyframe: \(count)\(place); \(first)"
    }

    /// A description of damage that no keyframe followed; nil if there is none.
    var atEnd: String? { open.map { openCount == 0 ? $0 : "pictures: \(openCount); \($0)" } }
}
