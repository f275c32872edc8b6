import Network
import Recorder

/// A published stream can be watched in browsers, and has its name on the server to itself.
struct PublishingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let published = command.outputs.compactMap(RTSPAddress.init)
        if let first = published.first, command.stream.bframes > 0 {
            return "\(first) takes no B frames, which browsers reject; leave --bframes out"
        }
        let twice = published.first { address in published.count { $0.isSamePlace(as: address) } > 1 }
        return twice.map { "\($0) is given twice; publish under another path" }
    }

    func warning(about command: RecordCommand) -> String? {
        let exposed = command.arguments.lazy.compactMap { argument -> String? in
            switch OutputChoice.Live(url: argument) {
            case .publishing(let address) where address.password != nil: "\(address)"
            case .sending(let url) where url.hasSecret: "\(url)"
            default: nil
            }
        }
        return exposed.first.map {
            "anyone on this machine can read the password of \($0) in the process list; put it in "
                + "\(PublishingPassword.variableName), or the whole address in a settings file"
        }
    }
}
