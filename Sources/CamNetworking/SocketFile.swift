import Glibc

/// A UNIX socket in the file system, and who may connect to it: `/run/camrec/door/live,mode=660`.
public struct SocketFile: Sendable, Hashable {
    /// Where the socket is.
    public let path: String
    /// Its permissions. Connecting requires write permission.
    public let mode: mode_t

    /// Only the owner's programs.
    private static let usualMode: mode_t = 0o600

    /// Reads `PATH` and `PATH,mode=660`. Nil if it is neither.
    public init?(_ text: String) {
        let parts = text.split(separator: ",mode=", omittingEmptySubsequences: false)
        guard let path = parts.first, !path.isEmpty, parts.count <= 2, !path.contains(","),
            !path.hasPrefix("@")
        else { return nil }
        var mode = Self.usualMode
        if parts.count == 2 {
            guard let number = mode_t(parts[1], radix: 8), number & ~0o777 == 0, number & 0o200 != 0 else {
                return nil
            }
            mode = number
        }
        (self.path, self.mode) = (String(path), mode)
    }

    /// Why a text is not a socket, with what to write.
    /// - Parameter scheme: what precedes it.
    static func complaint(about text: some StringProtocol, scheme: String) -> String {
        if text.hasPrefix("@") {
            return "abstract sockets have no permissions; for a file of that name write \(scheme)./\(text)"
        }
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty else { return "the path is missing; write \(scheme)PATH" }
        return parts.last?.hasPrefix("mode=") == true && parts.count == 2
            ? "the mode is octal and must let the owner write; write \(scheme)\(name),mode=660"
            : "a path has no comma; only a mode may follow it; write \(scheme)\(name),mode=660"
    }

    /// Why a text is not a socket, with what to write; nil if it is one.
    public static func complaint(about text: String) -> String? {
        SocketFile(text) == nil ? complaint(about: text, scheme: "") : nil
    }
}
