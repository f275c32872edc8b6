import CCrypt
import Glibc

/// A password as it is stored: libxcrypt's text for yescrypt, scrypt's successor, with salt and cost in it.
public struct PasswordHash: Hashable, Sendable {
    /// `$y$jBT$…`
    let text: String

    private static let prefix = "$y$"
    /// 64 MiB and, on a usual processor, 70 ms for each try: four times the cost of Debian's own passwords.
    private static let cost: UInt = 7
    private static let longestHash = 384
    /// The bytes that a password may have: libxcrypt takes no longer ones.
    public static let lengths = 8...256

    /// Reads a stored hash; nil if it is none that camweb makes.
    init?(stored text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.longestHash,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }),
            text.split(separator: "$").count == 4
        else { return nil }
        self.text = String(text)
    }

    /// Hashes a new password; nil if the system has no memory or no randomness.
    public init?(of password: String) {
        guard let hash = camrec_crypt_hash(password, Self.prefix, Self.cost) else { return nil }
        defer { free(hash) }
        self.init(stored: String(cString: hash))
    }

    /// Whether a password is the one. Takes long, on purpose.
    func matches(_ password: String) -> Bool { camrec_crypt_matches(password, text) }

    /// Why a password cannot be used, with what to do; nil if it can.
    public static func complaint(about password: String) -> String? {
        if password.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return "the password has control characters; type others"
        }
        guard lengths.contains(password.utf8.count) else {
            return
                "the password has \(password.utf8.count) bytes; use \(lengths.lowerBound) to \(lengths.upperBound)"
        }
        return nil
    }
}
