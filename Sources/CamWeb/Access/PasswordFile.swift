import CCrypt
import CamPlatform
import Glibc

/// The users who may log in, in lines of `USER:HASH` or `USER:HASH:ROLE` as `camweb password` writes them.
package struct PasswordFile: Hashable, Sendable {
    /// Why a file cannot be used. `description` is one line: thing, cause, next step.
    package enum Failure: Error, Hashable, CustomStringConvertible {
        case unreadable(path: String, errno: Int32)
        case notWritten(path: String, errno: Int32)
        case noFile(path: String)
        case tooLong(path: String)
        /// Other users may read or change the file.
        case exposed(path: String)
        case damaged(path: String, line: Int)
        case unknownRole(path: String, line: Int)
        case empty(path: String)
        case tooManyUsers(path: String)

        package var description: String {
            switch self {
            case .unreadable(let path, ENOENT):
                "\(path): no such file; make it: camweb password \(path)"
            case .unreadable(let path, let code):
                "\(path): cannot be read: \(String(cString: strerror(code))); it must belong to camweb's user"
            case .notWritten(let path, let code):
                "\(path): cannot be written: \(String(cString: strerror(code))); choose a folder that is yours"
            case .noFile(let path): "\(path): not a regular file; name one"
            case .tooLong(let path):
                "\(path): too long for a password file; make another: camweb password \(path)"
            case .exposed(let path): "\(path): others may read or change it; run: chmod 600 \(path)"
            case .damaged(let path, let line):
                "\(path):\(line): not USER:HASH; remove the line, then run: camweb password \(path)"
            case .unknownRole(let path, let line):
                "\(path):\(line): the role is neither viewer nor admin; correct it, or remove it with its ':'"
            case .empty(let path): "\(path): no password in it; run: camweb password \(path)"
            case .tooManyUsers(let path): "\(path): more than \(mostUsers) users; remove some lines"
            }
        }
    }

    /// What the file says about a user.
    struct Entry: Hashable, Sendable {
        var hash: PasswordHash
        /// Nil if the line has none.
        var role: Role?
    }

    private var entries: [String: Entry] = [:]

    private static let mostUsers = 100
    private static let mostBytes = 64 << 10
    private static let longestUser = 64
    /// Permissions that others must not have. Reading by the group is allowed: the access list of a systemd
    /// credential shows as that.
    private static let exposed = S_IRWXO | S_IWGRP | S_IXGRP

    /// An empty file.
    package init() {}

    /// Reads a file.
    package init(path: String) throws(Failure) {
        try self.init(Self.read(path), path: path)
        guard !entries.isEmpty else { throw .empty(path: path) }
    }

    /// Reads a file's content.
    init(_ bytes: [UInt8], path: String) throws(Failure) {
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard !line.isEmpty else { continue }
            let parts = String(validating: line, as: UTF8.self)?
                .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard let parts, (2...3).contains(parts.count), Self.isUser(parts[0]),
                let hash = PasswordHash(stored: parts[1]), entries[parts[0]] == nil
            else { throw .damaged(path: path, line: number) }
            let role = parts.count == 3 ? Role(rawValue: parts[2]) : nil
            guard parts.count == 2 || role != nil else { throw .unknownRole(path: path, line: number) }
            entries[parts[0]] = Entry(hash: hash, role: role)
        }
        guard entries.count <= Self.mostUsers else { throw .tooManyUsers(path: path) }
    }

    /// Whether a user has this password. Slow on purpose, and as slow for an unknown user.
    func admits(_ user: String, _ password: String) -> Bool {
        guard let entry = entries[user] else {
            _ = entries.values.first?.hash.matches(password)
            return false
        }
        return entry.hash.matches(password)
    }

    /// What the file says about a user; nil for an unknown one.
    subscript(user: String) -> Entry? { entries[user] }

    /// Gives a user a password.
    /// - Parameter role: nil keeps the user's role.
    package mutating func set(_ hash: PasswordHash, for user: String, role: Role? = nil) {
        entries[user] = Entry(hash: hash, role: role ?? entries[user]?.role)
    }

    /// Whether a text can be a user name.
    package static func isUser(_ name: String) -> Bool {
        (1...longestUser).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
    }

    /// Writes the file atomically, with mode 600.
    package func write(to path: String) throws(Failure) {
        let lines = entries.sorted { $0.key < $1.key }.map { user, entry in
            "\(user):\(entry.hash.text)\(entry.role.map { ":\($0.rawValue)" } ?? "")\n"
        }.joined()
        do throws(ReplacingFile.Failure) {
            try ReplacingFile.write(Array(lines.utf8), to: path, mode: 0o600)
        } catch {
            throw .notWritten(path: path, errno: error.errno)
        }
    }

    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        do throws(WholeFile.Failure) {
            return try WholeFile.read(path, atMost: mostBytes, refusing: exposed)
        } catch {
            switch error {
            case .system(EPERM): throw .exposed(path: path)
            case .system(let code): throw .unreadable(path: path, errno: code)
            case .notRegular: throw .noFile(path: path)
            case .tooLong: throw .tooLong(path: path)
            }
        }
    }
}

// MARK: Hashes

/// The hash of a password: libxcrypt's text for yescrypt, the successor of scrypt, with salt and cost.
package struct PasswordHash: Hashable, Sendable {
    /// `$y$jBT$…`
    let text: String

    private static let prefix = "$y$"
    /// 64 MiB and about 70 ms per attempt on a usual processor: four times Debian's cost for system
    /// passwords.
    private static let cost: UInt = 7
    private static let longestHash = 384
    /// The allowed lengths of a password in bytes; libxcrypt takes no longer ones.
    package static let lengths = 8...256

    /// Reads a stored hash; nil if camweb does not make such hashes.
    init?(stored text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.longestHash,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }),
            text.split(separator: "$").count == 4
        else { return nil }
        self.text = String(text)
    }

    /// Hashes a new password; nil if the system lacks memory or random numbers.
    package init?(of password: String) {
        guard let hash = camrec_crypt_hash(password, Self.prefix, Self.cost) else { return nil }
        defer { free(hash) }
        self.init(stored: String(cString: hash))
    }

    /// Whether the hash is that of a password. Slow on purpose.
    func matches(_ password: String) -> Bool { camrec_crypt_matches(password, text) }

    /// Why a password cannot be used, with the next step; nil if it can.
    package static func complaint(about password: String) -> String? {
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
