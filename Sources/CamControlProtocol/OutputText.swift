/// The text of an output or of a place to listen, as in `sub.mkv,size=640x360,fps=5`: a name, and the properties of a
/// rendition of its own.
package struct OutputText: Sendable {
    /// The file, address or place.
    package let name: String
    /// The properties after it, in order, unread.
    package let properties: [(key: Key, value: String)]

    /// What a rendition may have of its own.
    package enum Key: String, Sendable, CaseIterable {
        case size, fps, bitrate, quality, codec
        case maxBitrate = "max-bitrate"
        case keyframeInterval = "keyframe-interval"
    }

    /// Only known keys at the end count: a file may have any name. Among those of a socket, its mode belongs to its name.
    package init(_ text: String) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var properties: [(key: Key, value: String)] = []
        var mode: Substring?
        while parts.count > 1, let last = parts.last {
            if let property = Self.property(last) {
                properties.insert(property, at: 0)
                parts.removeLast()
            } else if parts.count > 2, let (key, value) = Self.property(parts[parts.count - 2]),
                key == .keyframeInterval, last.first?.isNumber == true
            {
                // `keyframe-interval=50,2s` has a comma of its own.
                properties.insert((key, "\(value),\(last)"), at: 0)
                parts.removeLast(2)
            } else if mode == nil, text.hasPrefix("unix:"), last.hasPrefix("mode=") {
                mode = last
                parts.removeLast()
            } else {
                break
            }
        }
        name = (parts + [mode].compactMap { $0 }).joined(separator: ",")
        self.properties = properties
    }

    private static func property(_ part: Substring) -> (key: Key, value: String)? {
        guard let sign = part.firstIndex(of: "="), let key = Key(rawValue: String(part[..<sign])) else {
            return nil
        }
        return (key, String(part[part.index(after: sign)...]))
    }
}
