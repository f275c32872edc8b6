import Encoder
import CamNetworking
import Output
import CamRecorder
import CamCommandLine

/// Opens live outputs and reports what happens to them.
struct LiveOutput {
    let arguments: LiveArguments
    let console: Console
    let control: RecordingControl
    /// Where the descriptors begin that are not for clients.
    let descriptorEnd: Int

    /// Opens the sink of a choice that is live.
    func open(
        _ choice: OutputChoice, _ form: OutputChoice.Live, _ provider: BackendEncoderProvider,
        _ stream: StreamDescription
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

    /// Who may vouch for the server; nil if the stream is not encrypted.
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
