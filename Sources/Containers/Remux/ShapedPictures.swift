import Bitstream
import CamPlatform

/// The pictures of a recording's NAL units, in the guaranteed shape: both fields of a frame are one picture. Pictures
/// that are damaged, or may refer to damage, are left out.
struct ShapedPictures {
    typealias Body = (StreamPiece) throws(RemuxError) -> Void

    private let path: String
    private let assembler: AccessUnitAssembler
    private var shaper: StreamShaper
    /// The latest picture, until it is known that the next access unit is not its second field.
    private var latest = Picture()
    private var number = 0
    /// Pictures that are left out, after the first decodable one.
    private(set) var damage = StreamDamage()
    /// The order of the previous picture.
    private var latestOrder: PictureOrderCounter.Order?

    /// The bytes of one or two access units, with what their first slice states.
    private struct Picture {
        var bytes: [UInt8] = []
        var offset = 0
        var time: Duration?
        var order: PictureOrderCounter.Order?
        var hasPicture = false
        /// Whether `forbidden_zero_bit` was set in a unit.
        var isDamaged = false

        mutating func append(_ unit: borrowing ReceivedAccessUnit) {
            if bytes.isEmpty { (offset, time) = (unit.offset, unit.arrival.map { $0 - .start }) }
            unit.withUnsafeBytes { bytes += $0 }
            order = order ?? unit.order
            hasPicture = hasPicture || unit.hasPicture
            isDamaged = isDamaged || unit.isDamaged
        }

        mutating func removeAll() {
            bytes.removeAll(keepingCapacity: true)
            (time, order, hasPicture, isDamaged) = (nil, nil, false, false)
        }
    }

    init(codec: Codec, path: String) {
        self.path = path
        assembler = AccessUnitAssembler(codec: codec, byteLimit: RawStream.maximumByteCount)
        // Pictures wait for their number.
        shaper = StreamShaper(pool: AccessUnitPool(codec: codec, limit: PictureQueue.limit + 1))
    }

    /// Adds the next NAL unit of the stream.
    /// - Parameters:
    ///   - offset: its position, for messages; if the stream has times, messages use those instead.
    ///   - time: the picture's time; that of its first unit counts.
    mutating func add(
        _ nalUnit: RawSpan, at offset: Int, time: Duration? = nil, _ body: Body
    ) throws(RemuxError) {
        let arrival = time.map { Instant.start + $0 }
        guard nalUnit.byteCount + AccessUnit.startCodeLength <= RawStream.maximumByteCount else {
            throw tooLarge(at: offset, time)
        }
        guard NALUnitHeader(of: nalUnit, codec: assembler.codec)?.forbidden_zero_bit == true else {
            return try assembler.add(nalUnit: nalUnit, at: offset, arrival: arrival) {
                (unit) throws(RemuxError) in
                try add(unit, body)
            }
        }
        // The rest of the unit shows which picture is damaged.
        var mended = nalUnit.withUnsafeBytes { Array($0) }
        mended[0] &= 0x7F
        try assembler.add(nalUnit: mended.span.bytes, at: offset, arrival: arrival, isDamaged: true) {
            (unit) throws(RemuxError) in try add(unit, body)
        }
    }

    /// Delivers the last picture.
    mutating func finish(_ body: Body) throws(RemuxError) {
        try assembler.finish { (unit) throws(RemuxError) in try add(unit, body) }
        try deliver(body)
    }

    /// The previous picture is complete, unless this is its second field.
    private mutating func add(_ unit: borrowing ReceivedAccessUnit, _ body: Body) throws(RemuxError) {
        if unit.lacksUnits { throw tooLarge(at: unit.offset, unit.arrival.map { $0 - .start }) }
        if !unit.isSecondField { try deliver(body) }
        latest.append(unit)
    }

    private mutating func deliver(_ body: Body) throws(RemuxError) {
        // Swapped, not copied, so that the next picture uses the same memory.
        var picture = Picture()
        swap(&picture, &latest)
        defer {
            picture.removeAll()
            swap(&picture, &latest)
        }
        guard !picture.bytes.isEmpty else { return }
        if picture.isDamaged { return try leaveOut(picture, .forbiddenZeroBit, body) }
        let unit: AccessUnit?
        do throws(StreamShapeError) {
            unit = try shaper.shape(
                picture.bytes.span.bytes, frameNumber: number, sequence: 0, timestamp: .start)
        } catch {
            return try leaveOut(picture, error.rule, body)
        }
        // Units without a picture, such as parameter sets at the end of the file.
        guard let unit else { return }
        guard let order = picture.order else {
            noteDamage(to: picture, "its slice cannot be read")
            return try passOver(picture, body)
        }
        if unit.isIDR { damage.end() }
        number += 1
        latestOrder = order
        try body(.picture(StreamPicture(unit: unit, order: order, time: picture.time)))
    }

    /// Leaves out a picture because of damage in it or before it, or because it precedes the first IDR
    /// picture.
    private mutating func leaveOut(
        _ picture: Picture, _ rule: StreamShapeError.Rule, _ body: Body
    ) throws(RemuxError) {
        if rule != .startsWithoutIDR {
            guard rule.isDamage else { throw malformed("\(rule)", at: place(of: picture)) }
            noteDamage(to: picture, "\(rule)")
        }
        try passOver(picture, body)
    }

    private mutating func noteDamage(to picture: Picture, _ problem: String) {
        let place = place(of: picture)
        damage.begin("the picture at \(place): \(problem)")
        shaper.expectIDR()
    }

    private mutating func passOver(_ picture: Picture, _ body: Body) throws(RemuxError) {
        // Units without a picture occupy no time.
        guard picture.hasPicture else { return }
        guard let latestOrder else { return try body(.undecodable) }
        damage.leaveOut()
        // A picture whose order cannot be read follows the previous one.
        let order =
            picture.order
            ?? PictureOrderCounter.Order(count: latestOrder.count &+ 1, beginsSequence: false)
        try body(.picture(StreamPicture(unit: nil, order: order, time: picture.time)))
    }

    private func place(of picture: Picture) -> String { place(picture.offset, picture.time) }

    private func place(_ offset: Int, _ time: Duration?) -> String {
        time.map { "\($0.inSeconds) s" } ?? "offset \(offset)"
    }

    private func tooLarge(at offset: Int, _ time: Duration?) -> RemuxError {
        malformed("it has more than \(RawStream.maximumByteCount) bytes", at: place(offset, time))
    }

    private func malformed(_ problem: String, at place: String) -> RemuxError {
        .input(
            InputError(
                .malformed(
                    "the picture at \(place): \(problem); camplay shows it, ffmpeg -c copy copies it"),
                input: path))
    }
}

extension StreamShapeError.Rule {
    /// Whether the bytes are damaged, as opposed to a stream of the wrong kind.
    fileprivate var isDamage: Bool {
        switch self {
        case .unsupportedUnit, .mixedSlices, .tooManyUnits, .startsWithoutIDR, .missingParameterSets,
            .parameterSetsChangedWithoutIDR, .amendmentFailed, .amendmentChangedIDs:
            false
        default: true
        }
    }
}
