import CGlyphs

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
