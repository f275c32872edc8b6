import CamNetworking

/// A camera to show: its name on the page and in addresses, where its stream comes from, and where its recorder takes
/// commands.
public struct Camera: Hashable, Sendable {
    /// What people call it; unique among the cameras of a server.
    public let name: String
    /// Where its live stream is.
    public let address: CameraAddress
    /// The path of its recorder's control socket; nil if it has none.
    public let control: String?
    /// Where its recordings are; nil if that is unknown.
    public var recordings: RecordingsPlace?

    private static let longestName = 100
    private static let controlKey = ",control="

    /// Nil for a name that is empty, too long, or has control characters or a slash.
    public init?(name: String, address: CameraAddress, control: String? = nil) {
        guard (1...Self.longestName).contains(name.utf8.count), !name.contains("/"),
            name.unicodeScalars.allSatisfy({ !$0.properties.generalCategory.isControl })
        else { return nil }
        (self.name, self.address, self.control) = (name, address, control)
    }

    /// Reads `[NAME=]ADDRESS[,control=PATH]`. Without a name, the address gives it: `127.0.0.1:9982`, and `door` for
    /// `unix:/run/camrec/door/live`. Nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: Self.controlKey, maxSplits: 1, omittingEmptySubsequences: false)
        let control = parts.count == 2 ? String(parts[1]) : nil
        if let control {
            guard !control.isEmpty, (try? PathListener.refuseUnusable(control)) != nil else { return nil }
        }
        let place = String(parts.first ?? "")
        if let address = Self.address(place) {
            self.init(name: address.usualName, address: address, control: control)
        } else if let equals = place.firstIndex(of: "="),
            let address = Self.address(String(place[place.index(after: equals)...]))
        {
            self.init(name: String(place[..<equals]), address: address, control: control)
        } else {
            return nil
        }
    }

    /// Refuses other options, such as a recorder's `,mode=660` or a mistyped one: they would become part of the path.
    private static func address(_ text: String) -> CameraAddress? {
        let hasOption = text.split(separator: ",").dropFirst().contains { part in
            part.firstIndex(of: "=").map { part[..<$0].allSatisfy { $0.isLetter || $0 == "-" } } ?? false
        }
        return hasOption ? nil : CameraAddress(text)
    }
}

extension CameraAddress {
    /// What a service calls its live socket, in a folder of the camera's name.
    private static let usualSocket = "live"

    /// The camera's name if none is given.
    fileprivate var usualName: String {
        switch self {
        case .tcp(let address): return "\(address)"
        case .path(let path):
            let parts = path.split(separator: "/")
            guard let last = parts.last else { return path }
            return String(last == Self.usualSocket ? parts.dropLast().last ?? last : last)
        }
    }
}

extension Unicode.GeneralCategory {
    /// Whether characters of it move text instead of showing.
    fileprivate var isControl: Bool {
        switch self {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }
}
