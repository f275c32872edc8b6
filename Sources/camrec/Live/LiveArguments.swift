import ArgumentParser
import CamNetworking
import CamCommandLine
import CamPlatform
import CamDelivery
import CamRecorder
import Containers

/// Options for watching and controlling a recording.
struct LiveArguments: ParsableArguments {
    @Option(
        name: .customLong("listen"),
        help: ArgumentHelp(
            "Serve the stream to every client; repeatable. 0.0.0.0 and [::] accept any machine; unix:PATH[,mode=660] is a local socket (mode 600); with ,size=WxH and the like a rendition of its own. Without a value, port 9982.",
            valueName: "[HOST:]PORT|unix:PATH"),
        completion: .listening)
    var places: [ListeningPlace] = []

    /// The addresses that receivers connect to.
    var listeners: [(address: ListeningAddress, argument: OutputArgument)] {
        places.compactMap { place in place.address.map { ($0, place.argument) } }
    }

    @Option(
        help: ArgumentHelp(
            "What -, tcp:// and --listen carry: raw, or with the pictures' times in an MPEG transport stream (ts) or Matroska (mkv). Default: raw.",
            valueName: "FORMAT"))
    var streamFormat: StreamFormat = .raw

    @Option(
        help: ArgumentHelp("Maximum number of --listen clients: 1 to 1000. Default: 16.", valueName: "N"),
        transform: PlainValue.number(1...1000))
    var maxClients: Int?

    @Option(
        help: ArgumentHelp(
            "Maximum number of --listen clients per address, except of this machine. Default: half of --max-clients.",
            valueName: "N"), transform: PlainValue.number(1...1000))
    var maxClientsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "How far a client may lag before it waits for the next keyframe: 100ms to 60s, 4kB to 64MB; never more than 64 MB. Default: 2s.",
            valueName: "TIME|BYTES"), transform: ClientBuffer.read)
    var clientBuffer: ClientBuffer?

    @Option(
        help: ArgumentHelp(
            "Disconnect a client that reads nothing for this long: 1s to 1h. Default: 10s.",
            valueName: "TIME"),
        transform: ClientTimeout.read)
    var clientTimeout: ClientTimeout?

    @Flag(help: "Turn the camera on when the first --listen client connects, and off when the last has left.")
    var onDemand = false

    @Option(
        help: ArgumentHelp(
            "How long --on-demand keeps the camera on for nobody: up to 24h. Default: 10s.",
            valueName: "TIME"), transform: TimeSpan.reader(0.0...86400, "at most 24h"))
    var linger: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Certificates (PEM) to trust for rtsps://: of the server, or of its issuer. Default: those of the system.",
            valueName: "FILE"), completion: .file(),
        transform: PlainValue.text("expected a file's name"))
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "Accept commands on a socket (mode 600, or as in PATH,mode=660); see 'camrec ctl'.",
            valueName: "PATH"),
        completion: .file(), transform: ControlSocketPlace.read)
    var controlSocket: SocketFile?

    func validate() throws {
        for place in places {
            guard let complaint = place.complaint else { continue }
            throw ValidationError("--listen cannot be '\(place)': \(complaint)")
        }
    }

    /// Whether the camera is wanted; nil if it always is.
    var demand: CameraDemand? {
        onDemand ? CameraDemand(linger: linger?.duration ?? .seconds(10)) : nil
    }

    /// The options for receivers, except settings that depend on the stream.
    var options: LiveOptions {
        var options = LiveOptions()
        if let maxClients { options.mostReceivers = maxClients }
        options.mostPerAddress = maxClientsPerAddress
        if let clientBuffer { options.buffer = clientBuffer.value }
        if let clientTimeout { options.timeout = clientTimeout.duration }
        return options
    }
}

/// The value of `--stream-format`.
enum StreamFormat: String, ExpressibleByArgument, CaseIterable {
    case raw
    case ts
    case mkv

    /// Nil for a raw stream.
    var container: ContainerFormat? {
        switch self {
        case .raw: nil
        case .ts: .transportStream
        case .mkv: .matroska
        }
    }
}

/// A time, or a number of bytes: `2s`, `500ms`, `512kB`, `4MB`, `4MiB`.
struct ClientBuffer: ExplainedArgument {
    static let requirement = "expected a time of 100ms to 60s, or 4kB to 64MB"

    let value: LiveOptions.Buffer

    private static let bytes = 4000.0...67_108_864.0

    init(value: LiveOptions.Buffer) { self.value = value }

    init?(argument: String) {
        let (number, unit) = argument.splitUnit()
        let factor: Double? =
            switch unit.lowercased() {
            case "b": 1
            case "kb": 1e3
            case "kib": 1024
            case "mb": 1e6
            case "mib": 1_048_576
            default: nil
            }
        if let number, let factor {
            guard Self.bytes.contains(number * factor) else { return nil }
            value = .bytes(Int(number * factor))
        } else {
            guard let time = TimeSpan(argument: argument), (0.1...60).contains(time.seconds) else {
                return nil
            }
            value = .time(time.duration)
        }
    }
}

/// A value of `--listen`: a place, and perhaps the properties of a rendition. Keeps invalid values, for their own
/// complaints.
struct ListeningPlace: ExpressibleByArgument, CustomStringConvertible {
    static let requirement =
        "expected a port, with an optional host as in 0.0.0.0:9982 or [::1]:9982, or unix:PATH, as in unix:/run/live,mode=660"

    /// The address; nil if the value is not one.
    let address: ListeningAddress?
    /// The place's text, and the properties of its rendition.
    let argument: OutputArgument
    let description: String

    /// The value of an option that is given without one.
    static let usual = SocketAddress().description

    init?(argument: String) {
        self.argument = OutputArgument(argument)
        (address, description) = (ListeningAddress(self.argument.name), argument)
    }

    /// Why the value is not a valid address; nil if it is.
    var complaint: String? {
        // A settings file may hold a flag's value, which would be taken for a host name, as would a port like 0x50.
        let word = argument.name.lowercased()
        let isNoHost = ["yes", "no", "true", "false", "on", "off"].contains(word) || word.hasPrefix("0x")
        guard address == nil || isNoHost else { return nil }
        return OutputArgument.typingError(in: argument.name)
            ?? ListeningAddress.complaint(about: argument.name) ?? Self.requirement
    }
}

/// `10s`: how long a receiver may read nothing.
struct ClientTimeout: ExplainedArgument {
    static let requirement = "expected a time in whole seconds, 1s to 1h"

    let duration: Duration

    init?(argument: String) {
        guard let time = TimeSpan(argument: argument), (1...3600).contains(time.seconds),
            time.seconds == time.seconds.rounded()
        else { return nil }
        duration = time.duration
    }
}

/// The path of a socket in the file system; refuses values in the form of `--listen`.
enum SocketPath {
    static func read(_ path: String) throws -> String {
        if path.isEmpty { throw ValidationError("expected a path, as in /run/camrec/door") }
        if path.hasPrefix("unix:") || path.contains(",") {
            throw ValidationError("expected a path alone, without unix: and without commas")
        }
        if path.hasPrefix("@") {
            throw ValidationError(
                "abstract sockets have no owner; for a file of that name write ./\(path)")
        }
        return path
    }
}

/// The value of `--control-socket`: `/run/camrec/door/control,mode=660`.
enum ControlSocketPlace {
    static func read(_ text: String) throws -> SocketFile {
        guard !text.hasPrefix("unix:") else { throw ValidationError("expected a path alone, without unix:") }
        guard let file = SocketFile(text) else {
            throw ValidationError(SocketFile.complaint(about: text) ?? "expected a path")
        }
        return file
    }
}
