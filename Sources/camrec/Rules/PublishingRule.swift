import Network
import Recorder

/// A published stream can be watched in browsers, and has its name on the server to itself.
struct PublishingRule: OptionRule {
    func refusal(of command: RecordCommand) -> String? {
        let published = command.choices.filter(\.isPublishing)
        if !published.isEmpty, command.stream.bframes > 0 {
            return "\(published[0].path) takes no B frames, which browsers reject; leave --bframes out"
        }
        let twice = published.first { choice in published.count { $0.path == choice.path } > 1 }
        return twice.map { "\($0.path) is given twice; publish under another path" }
    }

    func warning(about command: RecordCommand) -> String? {
        let exposed = command.arguments.lazy.compactMap(RTSPAddress.init).first { $0.password != nil }
        return exposed.map {
            "anyone on this machine can read the password of \($0) in the process list; put it in "
                + "\(PublishingPassword.variableName), or the whole address in a settings file"
        }
    }
}
