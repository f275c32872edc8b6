import Glibc

/// The password for servers that ask for one, from where other users cannot read it: a credential of systemd
/// (`LoadCredential=camrec.password:FILE`), or else the environment.
struct PublishingPassword {
    /// The name of systemd's credential (systemd.exec(5), "CREDENTIALS").
    static let credential = "camrec.password"
    /// The name of the environment variable.
    static let variableName = "CAMREC_PASSWORD"

    /// Returns an environment variable's value.
    let variable: (String) -> String?

    private static let longest = 1024

    /// This process's.
    static var own: PublishingPassword {
        PublishingPassword(variable: { getenv($0).map { String(cString: $0) } })
    }

    /// Nil if there is none.
    var value: String? {
        if let folder = variable("CREDENTIALS_DIRECTORY"),
            let text = Self.firstLine(of: "\(folder)/\(Self.credential)")
        {
            return text
        }
        return variable(Self.variableName).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func firstLine(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // A file may come from a system whose lines end with \r\n.
        let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
