import Bitstream
import CamNetworking
import Capture
import CamRecorder
import Containers

extension OptionRules {
    /// A bare `--listen` must not take an output for its host.
    static func listenValue(_ command: RecordCommand) -> String? {
        for listener in command.live.listeners {
            guard case .tcp(let address) = listener.address, case let host = address.host,
                Codec(fileName: host) != nil || ContainerFormat(path: host) != nil
            else { continue }
            return "--listen treats '\(host)' as a host; put --listen after the outputs, or give it a port"
        }
        let places = command.live.listeners.map(\.address.description)
        return places.first { place in places.count { $0 == place } > 1 }.map {
            "--listen \($0) is given twice; leave one out, or use another port"
        }
    }

    /// A camera that is off records nothing, and only `--listen` knows whether somebody watches.
    static func onDemand(_ command: RecordCommand) -> String? {
        let live = command.live
        guard live.onDemand else {
            return live.linger == nil ? nil : "--linger needs --on-demand; add it, or leave this out"
        }
        if live.places.isEmpty { return "--on-demand needs --listen; add it, or leave this out" }
        if let other = command.outputs.first {
            return "--on-demand is for --listen alone; leave out \(other), or record without --on-demand"
        }
        if command.sound.isWanted { return "--on-demand turns off no microphone; leave out the sound" }
        return command.source.isCamera
            || command.source.device == TestSource.name && command.source.pace != false
            ? nil : "--on-demand needs a camera; leave it out for a file"
    }

    /// Limits on clients need clients that connect.
    static func clientLimit(_ command: RecordCommand) -> String? {
        let live = command.live
        guard live.places.isEmpty else { return nil }
        if live.maxClients != nil { return "--max-clients needs --listen; add it, or leave this out" }
        return live.maxClientsPerAddress == nil
            ? nil : "--max-clients-per-address needs --listen; add it, or leave this out"
    }

    /// A limit per address needs clients from several addresses.
    static func addressLimit(_ command: RecordCommand) -> String? {
        let areLocal = command.live.listeners.allSatisfy {
            if case .path = $0.address { true } else { false }
        }
        guard areLocal, !command.live.places.isEmpty, command.live.maxClientsPerAddress != nil else {
            return nil
        }
        return "clients of a UNIX socket have no address; leave out --max-clients-per-address"
    }

    /// The warning that belongs to `addressLimit`.
    static func addressLimitWarning(_ command: RecordCommand) -> String? {
        let listeners = command.live.listeners.map(\.address)
        guard let limit = command.live.maxClientsPerAddress, let first = listeners.first else { return nil }
        if listeners.allSatisfy(\.isLoopback) {
            return
                "--max-clients-per-address has no effect: \(first) is open to this machine alone, whose own "
                + "clients are not limited; leave it out, or listen on 0.0.0.0"
        }
        let most = command.live.options.mostReceivers
        guard limit >= most else { return nil }
        return
            "--max-clients-per-address \(limit) has no effect: --max-clients allows only \(most) in total; use a lower limit"
    }

    /// Options for clients need a live output.
    static func client(_ command: RecordCommand) -> String? {
        guard !command.choices.contains(where: \.isLive) else { return nil }
        let live = command.live
        if live.clientBuffer != nil {
            return
                "--client-buffer needs --listen or an output tcp://, rtsp://, srt:// or udp://; add one, or leave this out"
        }
        return live.clientTimeout == nil
            ? nil
            : "--client-timeout needs --listen or an output tcp://, rtsp://, srt:// or udp://; add one, or leave this out"
    }

    /// A published stream must suit browsers, and its name on the server must be unique.
    static func publishing(_ command: RecordCommand) -> String? {
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

    /// The warning that belongs to `publishing`.
    static func publishingWarning(_ command: RecordCommand) -> String? {
        let settings = "put the whole address in a settings file"
        let variable = "put it in \(PublishingPassword.variableName), or the whole address in a settings file"
        let exposed = command.arguments.compactMap { argument -> (name: String, advice: String)? in
            switch OutputChoice.Live(url: OutputArgument(argument).name) {
            case .publishing(let address) where address.password != nil: ("\(address)", variable)
            case .publishing(let address) where address.hasSecretInQuery: ("\(address)", settings)
            case .sending(let url) where url.hasSecretInStreamID: ("\(url)", settings)
            case .sending(let url) where url.hasSecret: ("\(url)", variable)
            default: nil
            }
        }
        guard !exposed.isEmpty else { return nil }
        // A settings file suits every address.
        let advice = exposed.contains { $0.advice == settings } ? settings : variable
        let names = exposed.map(\.name).joined(separator: " and ")
        return "anyone on this machine can read the password of \(names) in the process list; \(advice)"
    }

    /// `--stream-format` needs an output whose name implies no format.
    static func streamFormat(_ command: RecordCommand) -> String? {
        guard command.live.streamFormat != .raw, !command.choices.contains(where: takesFormat) else {
            return nil
        }
        return
            "--stream-format needs the output -, an output tcp:// or --listen; files have theirs by their names"
    }

    private static func takesFormat(_ choice: OutputChoice) -> Bool {
        choice.path == FileSink.standardOutput || choice.container != nil
    }

    /// `--serve-on` needs a file that ends and a live output that continues.
    static func serveOn(_ command: RecordCommand) -> String? {
        guard command.length.serveOn else { return nil }
        if command.length.frames == nil, command.length.duration == nil {
            return "--serve-on needs --frames or --duration, with which files end; add one, or leave it out"
        }
        let choices = command.choices
        if !choices.contains(where: \.isLive) {
            return
                "--serve-on needs --listen or an output that connects, such as rtsp://; add one, or leave it out"
        }
        return choices.allSatisfy(\.isLive)
            ? "--serve-on needs an output that is a file, which ends; name one, or leave out the limit" : nil
    }
}
