import Bitstream
import CamNetworking
import Output

/// A bare `--listen` must not take an output for its host.
struct ListenValueRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard case .tcp(let address)? = command.live.listen, case let host = address.host,
            Codec(fileName: host) != nil || ContainerFormat(path: host) != nil
        else { return nil }
        return "--listen treats '\(host)' as a host; put --listen after the outputs, or give it a port"
    }
}
