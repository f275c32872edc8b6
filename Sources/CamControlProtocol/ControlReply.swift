/// The reply to a command on the control socket. Property names are JSON keys.
package struct ControlReply: Codable, Sendable {
    /// Whether the command was accepted. If an encoder then cannot carry it out, the recording warns.
    package let ok: Bool
    /// Why the command was refused; nil if it was accepted.
    package let error: String?
    /// After a rate change: whether the encoder needs a new session, which begins with a keyframe.
    package var keyframeForced: Bool?
    /// After `stats`.
    package var stats: RecordingStatistics?
    /// After `controls`: all controls. After `control`: the controls that were set, with their new values.
    package var controls: [ControlReport]?
    /// After `keep` and `release`: the recordings that were named. After `kept`: those that are kept.
    package var kept: KeptReport?
    /// After `snapshot` and `doctor`: the length of the file that follows the reply.
    package var bytes: Int?

    /// Creates a reply; with an error, the command was refused.
    package init(
        error: String? = nil, keyframeForced: Bool? = nil, stats: RecordingStatistics? = nil,
        controls: [ControlReport]? = nil, kept: KeptReport? = nil, bytes: Int? = nil
    ) {
        ok = error == nil
        self.error = error
        (self.keyframeForced, self.stats, self.controls) = (keyframeForced, stats, controls)
        (self.kept, self.bytes) = (kept, bytes)
    }
}

// MARK: Kept recordings

/// Recordings that no limit removes, as the control socket and `camrec keep --list --json` report them. Property names
/// are JSON keys.
package struct KeptReport: Codable, Sendable, Hashable {
    /// The number of all of them.
    package var count: Int
    /// Bytes of all of them that have ended.
    package var bytes: Int
    /// In the order of their recording; of very many only the newest.
    package var recordings: [Recording]

    package struct Recording: Codable, Sendable, Hashable {
        package let path: String
        /// Nil while it is being written.
        package let bytes: Int?
        /// When its file was created, in UTC (ISO 8601); nil if the file system does not say.
        package let begun: String?

        /// Creates the report of a recording.
        package init(path: String, bytes: Int?, begun: String?) {
            (self.path, self.bytes, self.begun) = (path, bytes, begun)
        }
    }

    /// Creates a report.
    package init(count: Int, bytes: Int, recordings: [Recording]) {
        (self.count, self.bytes, self.recordings) = (count, bytes, recordings)
    }
}

// MARK: Controls

/// A camera's control, as `controls` on the control socket reports it. Property names are JSON keys.
package struct ControlReport: Codable, Sendable, Hashable {
    /// The name that `control` takes: `auto_exposure`.
    package let name: String
    /// The driver's name for the control.
    package let title: String
    package let kind: Kind
    /// A number's limits and step, a text's shortest and longest length in bytes; nil for other kinds.
    package var minimum: Int?
    package var maximum: Int?
    package var step: Int?
    /// The entries of a menu; nil for other kinds.
    package var entries: [Entry]?
    /// The value as a number: 0 or 1 for a switch, the entry's value for a menu. Nil for a text, or if it
    /// cannot be read.
    package var value: Int?
    /// A text's value.
    package var text: String?
    /// The driver's default; nil if the control has none.
    package var defaultValue: Int?
    /// Why the control cannot be set now; nil if it can be set.
    package var obstacle: Obstacle?

    /// The values that a control takes.
    package enum Kind: String, Codable, Sendable {
        case number, `switch`, menu, bits, button, text
        /// An array, or a structure.
        case other
    }

    /// One choice of a menu.
    package struct Entry: Codable, Sendable, Hashable {
        package let value: Int
        package let title: String

        /// Creates a choice.
        package init(value: Int, title: String) { (self.value, self.title) = (value, title) }
    }

    /// The reason a control cannot be set.
    package enum Obstacle: String, Codable, Sendable {
        case readOnly, inactive, inUse
    }

    /// Creates a control without values.
    package init(name: String, title: String, kind: Kind) {
        (self.name, self.title, self.kind) = (name, title, kind)
    }
}
