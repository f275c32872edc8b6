import Glibc
import CamPlatform

/// The text of one picture after another, as glyphs. Fills in memory of its own: nothing is allocated per picture.
struct OverlayLine: ~Copyable {
    /// Glyphs of a line at most; what is longer is cut off.
    static let capacity = 512

    private let atlas: GlyphAtlas
    private let parts: [Part]
    private let isUTC: Bool
    private let wallTime: @Sendable (Instant) -> WallTime
    /// The second whose date the parts have.
    private var second: Int?
    private let memory: UnsafeMutableBufferPointer<UInt16>
    /// How many glyphs the line has.
    private(set) var count = 0

    private enum Part {
        case glyphs([UInt16])
        case date(Date)
        case milliseconds
        case frame
    }

    /// A pattern for `strftime`, and its text at the current second.
    private final class Date {
        private let pattern: [CChar]
        private let text = UnsafeMutableBufferPointer<CChar>.allocate(capacity: OverlayLine.capacity)
        private var count = 0

        init(_ pattern: String) { self.pattern = Array(pattern.utf8CString) }

        deinit { text.deallocate() }

        func set(_ parts: inout tm) {
            guard let start = text.baseAddress else { return }
            count = pattern.withUnsafeBufferPointer { pattern in
                pattern.baseAddress.map { strftime(start, text.count, $0, &parts) } ?? 0
            }
        }

        var bytes: Slice<UnsafeMutableBufferPointer<CChar>> { text[..<count] }
    }

    /// - Parameter wallTime: the wall clock at a time of capture.
    init(_ overlay: Overlay, atlas: GlyphAtlas, wallTime: @escaping @Sendable (Instant) -> WallTime) {
        (self.atlas, self.wallTime) = (atlas, wallTime)
        isUTC = overlay.isUTC
        parts = overlay.text.parts.map { part in
            switch part {
            case .literal(let text): .glyphs(text.unicodeScalars.map(atlas.glyph))
            case .camera: .glyphs(overlay.camera.unicodeScalars.map(atlas.glyph))
            case .date(let pattern): .date(Date(pattern))
            case .milliseconds: .milliseconds
            case .frame: .frame
            }
        }
        memory = .allocate(capacity: Self.capacity)
        memory.initialize(repeating: 0)
    }

    deinit { memory.deallocate() }

    /// The line's glyph at a place.
    subscript(_ index: Int) -> UInt16 { memory[index] }

    /// Sets the line to the text of a picture.
    mutating func set(at time: Instant, frame: UInt32) {
        let wall = wallTime(time)
        if wall.seconds != second { setDate(wall.seconds) }
        count = 0
        for part in parts {
            switch part {
            case .glyphs(let glyphs): for glyph in glyphs { append(glyph) }
            case .date(let date):
                for byte in date.bytes { append(atlas.glyph(UInt8(truncatingIfNeeded: byte))) }
            case .milliseconds: append(wall.milliseconds, digits: 3)
            case .frame: append(Int(frame), digits: 1)
            }
        }
    }

    private mutating func setDate(_ second: Int) {
        self.second = second
        var (moment, fields) = (time_t(second), tm())
        _ = isUTC ? gmtime_r(&moment, &fields) : localtime_r(&moment, &fields)
        for case .date(let date) in parts { date.set(&fields) }
    }

    private mutating func append(_ number: Int, digits: Int) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(atlas.glyph(UInt8(truncatingIfNeeded: 0x30 + number / divisor % 10)))
            divisor /= 10
        }
    }

    private mutating func append(_ glyph: UInt16) {
        guard count < Self.capacity else { return }
        memory[count] = glyph
        count += 1
    }
}

extension WallTime {
    /// Of the second that `seconds` has begun.
    fileprivate var milliseconds: Int {
        let rest = nanoseconds % 1_000_000_000
        return Int((rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000)
    }
}
