import CamNetworking
import CamCommandLine

/// `8080`, `127.0.0.1:8080`, `[::1]`
struct PageAddress: ExplainedArgument {
    static let requirement = "expected [HOST:]PORT, as in 127.0.0.1:8080"

    let address: SocketAddress

    static let usual = PageAddress(address: SocketAddress(port: defaultPort))
    private static let defaultPort: UInt16 = 8080

    private init(address: SocketAddress) { self.address = address }

    init?(argument: String) {
        guard let address = SocketAddress(argument) else { return nil }
        // A host alone would have the port of recordings.
        let hasPort =
            argument.hasSuffix("\(address.port)") && !argument.hasSuffix("]") && argument != address.host
        self.address = hasPort ? address : SocketAddress(host: address.host, port: Self.defaultPort)
    }
}
