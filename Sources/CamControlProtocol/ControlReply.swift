/// The reply to a command on the control socket. Property names are JSON keys.
public struct ControlReply: Codable, Sendable {
    /// Whether the command was accepted. If an encoder then cannot carry it out, the recording warns.
    public let ok: Bool
    /// Why the command was refused; nil if it was accepted.
    public let error: String?
    /// After a rate change: whether the encoder needs a new session, which begins with a keyframe.
    public var keyframeForced: Bool?
    /// After `stats`.
    public var stats: RecordingStatistics?
    /// After `controls`: all controls. After `control`: the controls that were set, with their new values.
    public var controls: [ControlReport]?
    /// After `snapshot` and `doctor`: the length of the file that follows the reply.
    public var bytes: Int?

    /// Creates a reply; with an error, the command was refused.
    public init(
        error: String? = nil, keyframeForced: Bool? = nil, stats: RecordingStatistics? = nil,
        controls: [ControlReport]? = nil, bytes: Int? = nil
    ) {
        ok = error == nil
        self.error = error
        (self.keyframeForced, self.stats, self.controls, self.bytes) = (
            keyframeForced, stats, controls, bytes
        )
    }
}

// MARK: Controls

/// A camera's control, as `controls` on the control socket reports it. Property names are JSON keys.
public struct ControlReport: Codable, Sendable, Hashable {
    /// The name that `control` takes: `auto_exposure`.
    public let name: String
    /// The driver's name for the control.
    public let title: String
    public let kind: Kind
    /// A number's limits and step, a text's shortest and longest length in bytes; nil for other kinds.
    public var minimum: Int?
    public var maximum: Int?
    public var step: Int?
    /// The entries of a menu; nil for other kinds.
    public var entries: [Entry]?
    /// The value as a number: 0 or 1 for a switch, the entry's value for a menu. Nil for a text, or if it
    /// cannot be read.
    public var value: Int?
    /// A text's value.
    public var text: String?
    /// The driver's default; nil if the control has none.
    public var defaultValue: Int?
    /// Why the control cannot be set now; nil if it can be set.
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
