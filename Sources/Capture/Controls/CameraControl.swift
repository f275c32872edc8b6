/// A setting of a camera, such as its brightness (V4L2 specification, "User Controls").
public struct CameraControl: Sendable, Hashable {
    /// V4L2_CID_*.
    public let id: UInt32
    /// As `v4l2-ctl` writes it: `auto_exposure`.
    public let name: String
    /// The driver's name for it.
    public let title: String
    /// The values it takes.
    public let kind: Kind
    /// Nil if it has none.
    public let defaultValue: Value?
    /// Nil if it cannot be read.
    public let value: Value?
    /// Why it cannot be set now; nil if it can.
    public let obstacle: Obstacle?
    /// Its value has 64 bits instead of 32.
    let isWide: Bool

    /// The possible values.
    public enum Kind: Sendable, Hashable {
        case integer(ClosedRange<Int64>, step: UInt64)
        case boolean
        case menu([MenuEntry])
        /// Bits that may be set.
        case bitMask(UInt32)
        /// Does something when it is set to any value.
        case button
        /// Lengths in bytes.
        case text(ClosedRange<Int>)
        /// An array or a structure.
        case compound
    }

    /// One choice of a menu.
    public struct MenuEntry: Sendable, Hashable {
        /// The number the driver expects.
        public let index: Int64
        /// The text people see.
        public let title: String
    }

    /// A control's value.
    public enum Value: Sendable, Hashable {
        case number(Int64)
        case text(String)
    }

    /// Why a control cannot be set now.
    public enum Obstacle: Sendable, Hashable {
        case readOnly
        /// Has no effect in the current state of another control, such as automatic exposure.
        case inactive
        /// Cannot change while a program streams.
        case grabbed
    }

    /// Turns a driver's text into a name: letters and digits in lower case, joined by single underscores.
    static func name(of title: String) -> String {
        title.utf8.split { !isNamed($0) }.map { String(decoding: $0, as: UTF8.self).lowercased() }
            .joined(separator: "_")
    }

    private static func isNamed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// A value as people write it.
    public func text(of value: Value) -> String {
        switch (kind, value) {
        case (_, .text(let text)): text
        case (.boolean, .number(let number)): number == 0 ? "off" : "on"
        case (.menu(let entries), .number(let index)):
            entries.first { $0.index == index }.map { "\(index): \($0.title)" } ?? "\(index)"
        case (.bitMask, .number(let bits)): "0x" + String(UInt32(truncatingIfNeeded: bits), radix: 16)
        case (_, .number(let number)): "\(number)"
        }
    }

    /// The choices, for people: `0 to 255`.
    public var choices: String {
        switch kind {
        case .integer(let range, let step):
            "\(range.lowerBound) to \(range.upperBound)" + (step > 1 ? " in steps of \(step)" : "")
        case .boolean: "off or on"
        case .menu(let entries): entries.map { "\($0.index): \($0.title)" }.joined(separator: ", ")
        case .bitMask(let bits): "bits of 0x\(String(bits, radix: 16))"
        case .button: "1 to press it"
        case .text(let lengths): "text of \(lengths.lowerBound) to \(lengths.upperBound) bytes"
        case .compound: "an array; set it with v4l2-ctl"
        }
    }

    /// The choices that can be listed, as `--control` takes them; empty for a number or a text.
    public var listedChoices: [String] {
        switch kind {
        case .boolean: ["off", "on"]
        case .menu(let entries): entries.map(\.word)
        case .button: ["1"]
        case .integer, .bitMask, .text, .compound: []
        }
    }

    /// The value that the text stands for; nil if the control has no such value.
    func value(meaning text: String) -> Value? {
        switch kind {
        case .integer(let range, _):
            Self.number(text).flatMap { range.contains($0) ? .number($0) : nil }
        case .boolean: Self.truth(text).map { .number($0 ? 1 : 0) }
        case .menu(let entries): Self.choice(text, of: entries).map { .number($0.index) }
        case .bitMask(let bits):
            Self.number(text).flatMap { number in
                UInt32(exactly: number).flatMap { $0 & ~bits == 0 ? .number(number) : nil }
            }
        case .button: text == "1" ? .number(1) : nil
        case .text(let lengths): lengths.contains(text.utf8.count) ? .text(text) : nil
        case .compound: nil
        }
    }

    private static func number(_ text: String) -> Int64? {
        text.hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16) : Int64(text)
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "on", "yes", "true": true
        case "0", "off", "no", "false": false
        default: nil
        }
    }

    private static func isNamed(_ entry: MenuEntry, _ text: String) -> Bool {
        text == entry.title || text == "\(entry.index): \(entry.title)"
    }

    /// By its number, its title, its title as a name, or an unambiguous beginning of one.
    private static func choice(_ text: String, of entries: [MenuEntry]) -> MenuEntry? {
        if let index = Int64(text) { return entries.first { $0.index == index } }
        let wanted = name(of: text)
        if let exact = entries.first(where: { isNamed($0, text) || name(of: $0.title) == wanted }) {
            return exact
        }
        let candidates = entries.filter { !wanted.isEmpty && name(of: $0.title).hasPrefix(wanted) }
        return candidates.count == 1 ? candidates.first : nil
    }
}
