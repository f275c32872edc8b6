import Encoder
import CamPlatform
import Output
import CamRecorder
import CamSound

/// Opens a recording's outputs, and refuses two that are the same file.
struct OutputOpener {
    let files: FileOutput
    let live: LiveOutput
    /// The ring that file outputs keep in memory until a trigger; nil if everything is written.
    let ring: EventRing.Plan?
    /// The sound of outputs that can contain it; nil for none.
    let sound: SoundDescription?

    /// - Parameters:
    ///   - choices: in command-line order.
    ///   - providers: with an open encoder for each codec.
    ///   - report: must not write to an output's file.
    func open(
        _ choices: [OutputChoice], _ providers: [BackendEncoderProvider], besides report: ReportFile?
    ) throws(OutputError) -> [OutputPlan] {
        var plans: [OutputPlan] = []
        for choice in choices {
            guard let provider = providers.first(where: { $0.codec == choice.codec }) else { continue }
            let sink = try open(choice, provider)
            try refuseSharing(sink, plans, report)
            plans.append(OutputPlan(choice, sink: sink, ring: choice.isFile ? ring : nil))
        }
        return plans
    }

    private func open(
        _ choice: OutputChoice, _ provider: BackendEncoderProvider
    ) throws(OutputError) -> any AccessUnitSink {
        switch choice.form {
        case .live(let form): try live.open(choice, form, provider, stream(of: provider, for: choice))
        case .annexB, .container, .timestamps: try files.open(choice, stream(of: provider, for: choice))
        }
    }

    private func stream(of provider: BackendEncoderProvider, for choice: OutputChoice) -> StreamDescription {
        var stream = StreamDescription(provider)
        stream.sound = choice.takesSound ? sound : nil
        return stream
    }

    private func refuseSharing(
        _ sink: any AccessUnitSink, _ others: [OutputPlan], _ report: ReportFile?
    ) throws(OutputError) {
        // Several writers to /dev/null are harmless.
        guard let identity = sink.identity, identity != FileIdentity(path: "/dev/null") else { return }
        if let other = others.first(where: { $0.sink.identity == identity }) {
            throw OutputError(.usedTwice(other.sink.name), output: sink.name)
        }
        if report?.identity == identity { throw OutputError(.usedTwice("the report"), output: sink.name) }
    }
}
