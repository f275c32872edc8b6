import CamNetworking
import CamRecorder

/// A published stream can be watched in browsers, and has its name on the server to itself.
struct PublishingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let live = command.outputs.compactMap(OutputChoice.Live.init)
        let published = command.outputs.compactMap { try? RTSPAddress($0) }
        if let first = published.first, command.stream.bframes ?? 0 > 0 {
            return "\(first) takes no B frames, which browsers reject; leave --bframes out"
        }
        let names = live.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            return "\(twice) is given twice; publish under another path"
        }
        guard command.live.caFile != nil, !published.contains(where: \.isEncrypted) else { return nil }
        return "--ca-file needs an output rtsps://…; add it, or leave this out"
    }

    func warning(about command: RecordCommand) -> String? {
        let settings = "put the whole address in a settings file"
        let variable = "put it in \(PublishingPassword.variableName), or the whole address in a settings file"
        let exposed = command.arguments.compactMap { argument -> (name: String, advice: String)? in
            switch OutputChoice.Live(url: argument) {
            case .publishing(let address) where address.password != nil: ("\(address)", variable)
            case .publishing(let address) where address.hasSecretInQuery: ("\(address)", settings)
            case .sending(let url) where url.hasSecretInStreamID: ("\(url)", settings)
            case .sending(let url) where url.hasSecret: ("\(url)", variable)
            default: nil
            }
        }
        guard !exposed.isEmpty else { return nil }
        // The file is for any of them.
        let advice = exposed.contains { $0.advice == settings } ? settings : variable
        let names = exposed.map(\.name).joined(separator: " and ")
        return "anyone on this machine can read the password of \(names) in the process list; \(advice)"
    }
}
