/// Why a URL cannot be an output. The description quotes nothing that may be a password.
public enum AddressFlaw: Error, Equatable, CustomStringConvertible {
    /// It begins with another scheme.
    case otherScheme
    /// It has a space, or a character that must be escaped.
    case strayCharacter
    /// The host is missing or malformed.
    case host
    /// The port is missing, or not one.
    case port
    /// Nothing follows the host's slash.
    case path
    /// An @ stands in the path: perhaps a password with a slash is before it.
    case atInPath
    /// The user is missing before an @, or what is there has a wrong escape.
    case user
    /// It names a user, but addresses with this scheme have none.
    case unwantedUser
    /// An option is unknown there; nil for one that should not be quoted.
    case unknownOption(String?)
    /// An option has a value that it cannot have.
    case value(option: String)

    public var description: String {
        switch self {
        case .otherScheme: "it begins with another scheme"
        case .strayCharacter: "it has a space or another character that must be escaped, as %20"
        case .host: "its host is missing or malformed"
        case .port: "its port is missing or not a number from 1 to 65535"
        case .path: "it has no path after the host"
        case .atInPath: "it has an @ in the path"
        case .user: "its user is empty or has a wrong escape"
        case .unwantedUser: "it names a user, but such an address has none"
        case .unknownOption(let name): "it has an unknown option\(name.map { " '\($0)'" } ?? "")"
        case .value(let option): "its option '\(option)' has a wrong value"
        }
    }
}
