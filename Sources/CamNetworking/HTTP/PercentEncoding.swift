/// Characters in a URL that are written as `%` and two digits (RFC 3986, 2.1).
package enum PercentEncoding {
    /// Decodes escapes such as `%40`. Nil if an escape is malformed or stands for a control character.
    package static func decoded(_ text: Substring) -> String? {
        var (bytes, rest) = ([UInt8](), text.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                rest.prefix(2).allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                value >= 0x20
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Escapes all but letters and digits.
    public static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = UnicodeScalar(byte)
            let isPlain = byte < 0x80 && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain ? String(scalar) : "%" + String(256 + Int(byte), radix: 16).dropFirst()
        }.joined()
    }
}

// MARK: Forms

/// The fields of a form, as `application/x-www-form-urlencoded` (WHATWG URL, 5.1).
package struct FormBody: Hashable, Sendable {
    private let fields: [String: String]

    /// The most fields; more than any form of camweb has.
    private static let mostFields = 16

    /// Reads a body. Nil for a duplicate name, too many fields, a malformed escape, or text that is not
    /// UTF-8.
    package init?(_ bytes: some Collection<UInt8>) {
        var fields: [String: String] = [:]
        guard !bytes.isEmpty else {
            self.fields = fields
            return
        }
        let parts = bytes.split(
            separator: UInt8(ascii: "&"), maxSplits: Self.mostFields, omittingEmptySubsequences: false)
        guard parts.count <= Self.mostFields else { return nil }
        for part in parts {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Self.decoded(part[..<equals]),
                let value = Self.decoded(part[equals...].dropFirst()),
                fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        self.fields = fields
    }

    /// The value of a field; nil if the form has no such field.
    package subscript(name: String) -> String? { fields[name] }

    private static func decoded(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
