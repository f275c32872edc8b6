import CamNetworking
import Output

/// A limit per address needs clients from several addresses.
struct AddressLimitRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        guard case .path = command.live.listen, command.live.maxClientsPerAddress != nil else { return nil }
        return "clients of a UNIX socket have no address; leave out --max-clients-per-address"
    }

    func warning(about command: RecordCommand) -> String? {
        guard let limit = command.live.maxClientsPerAddress, let listen = command.live.listen else {
            return nil
        }
        if listen.isLoopback {
            return
                "--max-clients-per-address has no effect: \(listen) is open to this machine alone, whose own "
                + "clients are not limited; leave it out, or listen on 0.0.0.0"
        }
        let most = command.live.options.mostReceivers
        guard limit >= most else { return nil }
        return
            "--max-clients-per-address \(limit) has no effect: --max-clients allows only \(most) in total; use a lower limit"
    }
}
