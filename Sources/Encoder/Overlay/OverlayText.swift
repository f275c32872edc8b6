import CGlyphs
import CamPlatform
import Glibc

/// What is written into pictures: text in which the time of capture and the frame's number are filled in.
public struct OverlayText: Sendable, Hashable, CustomStringConvertible {
    /// As given.
    public let description: String
    let parts: [Part]

    enum Part: Sendable, Hashable {
        case literal(String)
        /// ASCII with `strftime`'s conversions.
        case date(String)
        case milliseconds
        case camera
        case frame
    }

    /// Why a text cannot be written.
    public enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case empty
        case long
        /// A name in braces, with these.
        case unknown(String)
        case character(Unicode.Scalar)

        public var description: String {
            switch self {
            case .empty: "expected a text, as in '%F %T'"
            case .long: "expected at most \(OverlayText.mostCharacters) characters"
            case .unknown(let name): "expected {camera} or {frame}, not \(name)"
            case .character(let character):
                "expected characters that can be drawn, not U+\(String(character.value, radix: 16, uppercase: true))"
            }
        }
    }

    /// Characters of the text as given.
    static let mostCharacters = 200

    /// - Parameter text: `strftime`'s conversions, of which camrec adds `%f`, milliseconds; `{camera}` and `{frame}`.
    public init(_ text: String) throws(Problem) {
        let scalars = Array(text.unicodeScalars)
        guard !scalars.isEmpty else { throw .empty }
        guard scalars.count <= Self.mostCharacters else { throw .long }
        if let control = scalars.first(where: { $0.properties.generalCategory == .control }) {
            throw .character(control)
        }
        description = text
        parts = try Self.parts(of: scalars)
    }

    /// Whether it has the time of capture in it.
    public var hasTime: Bool {
        parts.contains {
            switch $0 {
            case .date(let text): text.contains("%")
            case .milliseconds: true
            case .literal, .camera, .frame: false
            }
        }
    }

    /// The first character that only a font file can have; nil if there is none.
    public var missingFromBuiltInFont: Unicode.Scalar? {
        description.unicodeScalars.first { glyphs_fixed($0.value) == nil }
    }

    private static func parts(of scalars: [Unicode.Scalar]) throws(Problem) -> [Part] {
        var parts: [Part] = []
        var rest = scalars[...]
        while let first = rest.first {
            if first == "%", rest.dropFirst().first == "f" {
                parts.append(.milliseconds)
                rest = rest.dropFirst(2)
            } else if first == "{", let (name, part) = try field(at: rest) {
                parts.append(part)
                rest = rest.dropFirst(name.unicodeScalars.count)
            } else if first.isASCII {
                // The character after a % belongs to it, so that %% hides no conversion behind it.
                let length = first == "%" ? 2 : 1
                parts.append(date: rest.prefix(length))
                rest = rest.dropFirst(length)
            } else {
                parts.append(literal: first)
                rest = rest.dropFirst()
            }
        }
        return parts
    }

    /// The name in braces at the beginning of a text; nil if that is only a brace.
    private static func field(
        at text: ArraySlice<Unicode.Scalar>
    ) throws(Problem) -> (name: String, part: Part)? {
        guard let end = text.firstIndex(of: "}") else { return nil }
        var name = ""
        name.unicodeScalars.append(contentsOf: text[...end])
        guard name.dropFirst().dropLast().allSatisfy(\.isLetter), name.count > 2 else { return nil }
        switch name {
        case "{camera}": return (name, .camera)
        case "{frame}": return (name, .frame)
        default: throw .unknown(name)
        }
    }
}

extension [OverlayText.Part] {
    fileprivate mutating func append(date scalars: ArraySlice<Unicode.Scalar>) {
        var text = ""
        if case .date(let former) = last {
            text = former
            removeLast()
        }
        // A conversion's letter that is not ASCII is none.
        text.unicodeScalars.append(contentsOf: scalars.map { $0.isASCII ? $0 : "?" })
        append(.date(text))
    }

    fileprivate mutating func append(literal scalar: Unicode.Scalar) {
        if case .literal(let former) = last {
            removeLast()
            append(.literal(former + String(scalar)))
        } else {
            append(.literal(String(scalar)))
        }
    }
}

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
