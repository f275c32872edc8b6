/// Who may use a server.
public struct AccessRules: Sendable {
    /// Who may log in; nil if everybody may watch who can connect.
    public var passwords: PasswordFile?
    /// Whether all requests come through a reverse proxy, whose headers then say from where, and whether with TLS.
    public var isBehindProxy = false
    /// Whether clients may also change something without a password.
    public var allowsChanges = false

    public init() {}
}
