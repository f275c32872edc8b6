import CGlyphs
import CamPlatform
import Glibc

/// The pattern of an overlay's text, with placeholders for the time of capture, the camera and the frame
/// number.
public struct OverlayText: Sendable, Hashable, CustomStringConvertible {
    /// The pattern as the user wrote it.
    public let description: String
    let parts: [Part]

    enum Part: Sendable, Hashable {
        case literal(String)
        /// ASCII with conversions of `strftime`.
        case date(String)
        case milliseconds
        case camera
        case frame
    }

    /// Why a pattern is invalid.
    public enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case empty
        case long
        /// An unknown name in braces; the value includes the braces.
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

    /// The maximum number of characters in the pattern.
    static let mostCharacters = 200

    /// - Parameter text: may contain conversions of `strftime`, `%f` for milliseconds, `{camera}` and
    ///   `{frame}`.
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

    /// Whether the pattern contains the time of capture.
    public var hasTime: Bool {
        parts.contains {
            switch $0 {
            case .date(let text): text.contains("%")
            case .milliseconds: true
            case .literal, .camera, .frame: false
            }
        }
    }

    /// The first character that the built-in font lacks; nil if the font has all characters.
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
                // The character after a % belongs to the conversion: in %%F, F is literal.
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

    /// The placeholder in braces at the beginning of a text; nil if the brace is literal.
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
        // `strftime` knows no letters outside ASCII.
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

/// The glyphs of the text for the current picture. The line reuses its memory: nothing is allocated per
/// picture.
struct OverlayLine: ~Copyable {
    /// The maximum number of glyphs in a line; longer lines are cut off.
    static let capacity = 512

    private let atlas: GlyphAtlas
    private let parts: [Part]
    private let isUTC: Bool
    private let wallTime: @Sendable (Instant) -> WallTime
    /// The second for which the dates in `parts` are formatted; nil before the first picture.
    private var second: Int?
    private let memory: UnsafeMutableBufferPointer<UInt16>
    /// The number of glyphs in the line.
    private(set) var count = 0

    private enum Part {
        case glyphs([UInt16])
        case date(Date)
        case milliseconds
        case frame
    }

    /// A pattern for `strftime` and its text for the current second.
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

    /// - Parameter wallTime: returns the wall clock at a time of capture.
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

    /// The glyph at an index, which is less than `count`.
    subscript(_ index: Int) -> UInt16 { memory[index] }

    /// Formats the text for a picture.
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
    /// The milliseconds since the beginning of `seconds`.
    fileprivate var milliseconds: Int {
        let rest = nanoseconds % 1_000_000_000
        return Int((rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000)
    }
}
