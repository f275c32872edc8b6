import ArgumentParser
import Glibc
import CamNetworking
import Output
import CamCommandLine

/// Where the stream comes from.
enum SourceChoice: ExplainedArgument {
    static let requirement = "expected tcp://HOST:PORT, listen://[HOST:]PORT, a file, or -"

    case file(String)
    case standardInput
    /// Connects to a sender.
    case sender(SocketAddress)
    /// Waits for a sender.
    case listener(SocketAddress)

    init?(argument: String) {
        if argument.hasPrefix("tcp://") {
            guard let address = SocketAddress(url: argument, scheme: "tcp"), address.port > 0 else {
                return nil
            }
            self = .sender(address)
        } else if argument.hasPrefix("listen://") {
            guard let address = SocketAddress(url: argument, scheme: "listen") else { return nil }
            self = .listener(address)
        } else if argument == FileSink.standardOutput {
            self = .standardInput
        } else if argument.isEmpty || argument.contains("://") {
            return nil
        } else {
            self = .file(argument)
        }
    }

    /// Whether its pictures have no time other than their arrival: what a program writes to a pipe is assumed
    /// to be live.
    var isLive: Bool {
        switch self {
        case .file: false
        case .standardInput: !FileSource.isFile(STDIN_FILENO)
        case .sender, .listener: true
        }
    }

    /// Whether it may break and come back.
    var isConnection: Bool {
        switch self {
        case .sender, .listener: true
        case .file, .standardInput: false
        }
    }
}
