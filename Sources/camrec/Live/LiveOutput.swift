import CamCommandLine
import CamNetworking
import CamRecorder
import Encoder
import Glibc
import Synchronization
import CamDelivery
import Containers

/// Opens live outputs and reports their events.
struct LiveOutput {
    let arguments: LiveArguments
    let console: Console
    let control: RecordingControl
    /// Whether the camera is wanted; nil if it always is.
    let demand: CameraDemand?
    /// The first descriptor that clients must not use.
    let descriptorEnd: Int

    /// Opens the sink of a choice that is live.
    /// - Parameter rendition: the place of its rendition among the recording's.
    func open(
        _ choice: OutputChoice, _ form: OutputChoice.Live, _ provider: BackendEncoderProvider,
        _ stream: StreamDescription, rendition: Int
    ) throws(OutputError) -> BroadcastSink {
        let container = choice.container.map { BroadcastSink.LiveContainer($0, stream: stream) }
        var options = arguments.options
        options.follow(stream, keyframeInterval: provider.keyframeInterval)
        let requestKeyframe: @Sendable () -> Void = { [control] in control.requestKeyframe() }
        switch form {
        case .listening(let address):
            options.descriptorEnd = descriptorEnd
            let sink = try BroadcastSink(
                listeningOn: address, options: options, container: container,
                requestKeyframe: requestKeyframe,
                report: { [console] event in console.inform("\(event)") })
            announce(sink)
            if let demand { sink.receivers.whenPresenceChanges(demand.makeCounter(of: rendition)) }
            return sink
        case .connecting(let address):
            let outages = OutageNotice(console: console, output: "\(OutputChoice.scheme)://\(address)")
            return try BroadcastSink(
                connectingTo: address, options: options, container: container,
                requestKeyframe: requestKeyframe,
                report: { event in outages.report(event) })
        case .sending(let url):
            let outages = OutageNotice(console: console, output: "\(url)")
            return try BroadcastSink(
                sendingTo: url, passphrase: PublishingPassword.own.value, stream: stream, options: options,
                requestKeyframe: requestKeyframe, report: { event in outages.report(event) })
        case .publishing(let address):
            let outages = OutageNotice(console: console, output: "\(address)")
            return try BroadcastSink(
                publishingTo: address, password: address.password ?? PublishingPassword.own.value,
                trust: try trust(for: address), codec: provider.codec, sound: stream.sound, options: options,
                requestKeyframe: requestKeyframe,
                report: { event in outages.report(event) })
        }
    }

    /// The certificates to trust; nil if the stream is not encrypted.
    private func trust(for address: RTSPAddress) throws(OutputError) -> TLSTrust? {
        guard address.isEncrypted else { return nil }
        do throws(NetworkError) { return try TLSTrust(file: arguments.caFile) } catch {
            throw OutputError(.network(error), output: "\(address)")
        }
    }

    private func announce(_ sink: BroadcastSink) {
        console.inform("listening on \(sink.name)")
        guard sink.isOpenToNetwork else { return }
        console.warn(
            "\(sink.name) is open to the network: anyone who can reach it sees the camera, unencrypted; to avoid that, "
                + "listen on 127.0.0.1 and use an SSH tunnel")
    }
}

// MARK: Outages

/// Reports events of an output that connects to its receiver: the first failed connection and the first loss as
/// warnings, everything else as information.
final class OutageNotice: Sendable {
    private let console: Console
    private let output: String
    private let hasToldAbsence = Atomic<Bool>(false)
    private let hasToldLoss = Atomic<Bool>(false)

    init(console: Console, output: String) { (self.console, self.output) = (console, output) }

    func report(_ event: LiveEvent) {
        let isNews =
            switch event {
            case .unreachable: !hasToldAbsence.exchange(true, ordering: .relaxed)
            case .left(let statistics) where statistics.departure?.isLoss == true:
                !hasToldLoss.exchange(true, ordering: .relaxed)
            default: false
            }
        // Most events begin with the receiver's name, which is the name of the output.
        let text = event.description(after: output)
        let line = text.hasPrefix("\(output) ") ? text : "\(output): \(text)"
        if isNews { console.warn(line) } else { console.inform(line) }
    }
}

extension ReceiverStatistics.Departure {
    /// Whether the receiver may have missed data.
    fileprivate var isLoss: Bool { self != .ended }
}

// MARK: Password

/// The password for servers that require one, from a place that other users cannot read: a credential of
/// systemd (`LoadCredential=camrec.password:FILE`), or else the environment.
struct PublishingPassword {
    /// The name of systemd's credential (systemd.exec(5), "CREDENTIALS").
    static let credential = "camrec.password"
    /// The name of the environment variable.
    static let variableName = "CAMREC_PASSWORD"

    /// Returns an environment variable's value.
    let variable: (String) -> String?

    private static let longest = 1024

    /// The password of this process.
    static var own: PublishingPassword {
        PublishingPassword(variable: { getenv($0).map { String(cString: $0) } })
    }

    /// The password; nil if there is none.
    var value: String? {
        if let folder = variable("CREDENTIALS_DIRECTORY"),
            let text = Self.firstLine(of: "\(folder)/\(Self.credential)")
        {
            return text
        }
        return variable(Self.variableName).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func firstLine(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // A file may come from a system whose lines end with \r\n.
        let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
