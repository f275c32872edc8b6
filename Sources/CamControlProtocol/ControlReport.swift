/// A camera's control, as `controls` on the control socket reports it. Property names are JSON keys.
public struct ControlReport: Codable, Sendable, Hashable {
    /// As `control` takes it: `auto_exposure`.
    public let name: String
    /// The driver's name for it.
    public let title: String
    public let kind: Kind
    /// A number's limits and step, a text's shortest and longest length in bytes; nil for other kinds.
    public var minimum: Int?
    public var maximum: Int?
    public var step: Int?
    /// What a menu offers; nil for other kinds.
    public var entries: [Entry]?
    /// A number: of a switch 0 or 1, of a menu the entry's. Nil for a text, or if it cannot be read.
    public var value: Int?
    /// A text's value.
    public var text: String?
    /// The driver's default; nil if it has none.
    public var defaultValue: Int?
    /// Why it cannot be set now; nil if it can.
    public var obstacle: Obstacle?

    /// The values that a control takes.
    public enum Kind: String, Codable, Sendable {
        case number, `switch`, menu, bits, button, text
        /// An array, or a structure.
        case other
    }

    /// One choice of a menu.
    public struct Entry: Codable, Sendable, Hashable {
        public let value: Int
        public let title: String

        /// Creates a choice.
        public init(value: Int, title: String) { (self.value, self.title) = (value, title) }
    }

    /// The reason a control cannot be set.
    public enum Obstacle: String, Codable, Sendable {
        case readOnly, inactive, inUse
    }

    /// Creates a control without values.
    public init(name: String, title: String, kind: Kind) {
        (self.name, self.title, self.kind) = (name, title, kind)
    }
}
