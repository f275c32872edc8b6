import CamNetworking
import NIOHTTP1

/// Where browsers find the page, and which pages may embed it.
package struct Placement: Sendable {
    /// Host names under which a reverse proxy serves the page, besides those of this machine.
    package var hosts: [String] = []
    package var base = BasePath.root
    /// The origins whose pages may embed the page in a frame; none by default.
    package var ancestors: [FrameAncestor] = []

    package init() {}

    /// The directive of the page's Content-Security-Policy.
    var frameAncestors: String {
        "frame-ancestors " + (ancestors.isEmpty ? "'none'" : ancestors.map(\.text).joined(separator: " "))
    }
}

// MARK: The path of the page

/// The path under which everything is served, such as `/cams`, without a slash at its end.
package struct BasePath: Hashable, Sendable, CustomStringConvertible {
    /// Empty for the root.
    package let description: String

    package static let root = BasePath()

    private static let longest = 200
    private static let signs: Set<Character> = ["-", ".", "_", "~"]

    private init() { description = "" }

    /// Reads an absolute path; nil for one with empty parts, `.` or `..`, or characters that addresses escape.
    package init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count <= Self.longest else { return nil }
        let path = text.hasSuffix("/") ? text.dropLast() : text[...]
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for part in parts {
            guard !part.isEmpty, part != ".", part != "..",
                part.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || Self.signs.contains($0) })
            else { return nil }
        }
        description = String(path)
    }

    /// The path of the page, and of the cookies.
    var page: String { description + "/" }

    /// The path of the form for user and password.
    var login: String { description + "/login" }

    /// Whether a target is the base without its slash, against which the page's addresses would not be resolved.
    func isBare(_ target: String) -> Bool {
        !description.isEmpty && target.prefix { $0 != "?" } == description
    }

    /// The target of a request without the base; nil if it is outside.
    func relative(_ target: String) -> String? {
        guard target.hasPrefix(page) else { return nil }
        return String(target.dropFirst(description.count))
    }
}

// MARK: Pages that embed the page

/// An origin whose pages may embed the page, as in `https://home.example.org`, or `'self'`.
package struct FrameAncestor: Hashable, Sendable {
    /// As the Content-Security-Policy has it.
    let text: String

    private static let own = "'self'"
    private static let schemes = ["https://", "http://"]
    private static let longest = 300

    /// Nil for anything but one origin: wildcards would let pages of others embed the page, and other characters could
    /// begin another directive.
    package init?(_ text: String) {
        if text == Self.own || text == "self" {
            self.text = Self.own
            return
        }
        guard text.utf8.count <= Self.longest, let scheme = Self.schemes.first(where: text.hasPrefix) else {
            return nil
        }
        let authority = String(text.dropFirst(scheme.count))
        guard let host = HostHeader.host(of: authority), Self.isHost(host) else { return nil }
        self.text = text.lowercased()
    }

    /// Whether a text is a name or an IPv4 address; the Content-Security-Policy knows no IPv6 addresses.
    private static func isHost(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" }
        }
    }
}
