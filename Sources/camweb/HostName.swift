import CamNetworking
import CamCommandLine

/// `cameras.example.org`, without a port: the name that browsers use.
struct HostName: ExplainedArgument {
    static let requirement = "expected a host name without scheme and port, as in cameras.example.org"

    let name: String

    init?(argument: String) {
        guard let address = SocketAddress(argument), address.host == argument else { return nil }
        name = argument
    }
}
