import Glibc
import CamNetworking

/// Why the server could not start. `description` is one line: thing, cause, next step.
package enum WebError: Error, Sendable, CustomStringConvertible {
    /// Other machines can reach the address, but there is no password or no encryption.
    case notLoopback(SocketAddress)
    /// Two cameras have the same name.
    case sameName(String)
    case network(NetworkError)
    /// The event loop cannot be started.
    case noDescriptors
    case noThreads

    package var description: String {
        switch self {
        case .notLoopback(let address):
            "\(address): other machines can reach it, for which camweb needs --password-file, and a reverse proxy for TLS "
                + "with --behind-proxy; or use a tunnel: ssh -L 8080:127.0.0.1:8080 HOST"
        case .sameName(let name):
            "two cameras are called '\(name)'; name one, as in garden=tcp://127.0.0.1:9983"
        case .network(let error): error.description
        case .noDescriptors: "out of descriptors; raise 'ulimit -n'"
        case .noThreads: "out of threads; raise 'ulimit -u'"
        }
    }
}
