import Acceleration
import Pictures

/// Which encoder is wanted.
public struct EncoderRequest: Sendable, Hashable {
    /// Hardware, software, or either.
    public enum Preference: String, Sendable, Hashable, CaseIterable {
        /// VAAPI where it works, else software.
        case auto
        case vaapi, software
    }

    /// Which of a driver's entry points.
    public enum LowPower: String, Sendable, Hashable, CaseIterable {
        /// EncSlice where the driver has it, else EncSliceLP.
        case auto
        /// EncSliceLP only.
        case on
        /// EncSlice only.
        case off
    }

    /// Hardware, software, or either.
    public var preference = Preference.auto
    /// The only render node to be used; there is then no fallback to software.
    public var renderNode: String?
    /// Which of a driver's entry points.
    public var lowPower = LowPower.auto
    /// How pictures get to the GPU.
    public var upload = UploadMethod.auto

    /// Asks for the best that works.
    public init() {}
}

/// The encoder that was opened, and why.
struct EncoderSelection {
    /// Open, and expecting its first picture.
    let encoder: VideoEncoder
    /// Why each encoder that would have come before it was passed over.
    let passedOver: [String]

    /// Opens the first encoder that takes the configuration: each render node's EncSlice, then its
    /// EncSliceLP, then software.
    /// - Parameter excluding: labels of encoders that are known to fail.
    static func open(
        _ request: EncoderRequest, configuration: EncoderConfiguration, source: PictureFormat,
        inputs: EncoderInputs, regulator: RateRegulator, excluding: [String] = []
    ) throws(EncoderError) -> EncoderSelection {
        let software = SoftwareEncoder.name(configuration.codec)
        if request.preference == .software {
            if excluding.contains(software) {
                throw EncoderError(.exhausted([failedBefore(software).reason]))
            }
            return EncoderSelection(
                encoder: try SoftwareEncoder.open(
                    configuration, source: source, inputs: inputs, regulator: regulator),
                passedOver: [])
        }
        var failures: [EncoderError] = []
        let nodes = request.renderNode.map { [$0] } ?? RenderNode.all()
        if nodes.isEmpty { failures.append(EncoderError(.noRenderNode)) }
        for node in nodes {
            if let encoder = try open(
                request, configuration, source, inputs, regulator, excluding, node: node,
                failures: &failures)
            {
                return EncoderSelection(encoder: encoder, passedOver: failures.map(\.reason))
            }
        }
        if request.preference == .vaapi || request.renderNode != nil {
            if !excluding.isEmpty { throw EncoderError(.exhausted(failures.map(\.reason))) }
            if failures.count == 1, let only = failures.first { throw only }
            throw EncoderError(.noneUsable(failures.map(\.reason)))
        }
        if excluding.contains(software) {
            throw EncoderError(.exhausted(failures.map(\.reason)))
        }
        do {
            let encoder = try SoftwareEncoder.open(
                configuration, source: source, inputs: inputs, regulator: regulator)
            return EncoderSelection(encoder: encoder, passedOver: failures.map(\.reason))
        } catch {
            if case .contradiction = error.kind { throw error }
            throw EncoderError(.noneUsable((failures + [error]).map(\.reason)))
        }
    }

    private static func failedBefore(_ label: String) -> EncoderError {
        EncoderError(.openFailed(encoder: label, detail: "it failed on its first picture"))
    }

    /// Nil where nothing on that node works; the reasons are added to `failures`. What no encoder can do is
    /// thrown.
    private static func open(
        _ request: EncoderRequest, _ configuration: EncoderConfiguration, _ source: PictureFormat,
        _ inputs: EncoderInputs, _ regulator: RateRegulator, _ excluding: [String], node: String,
        failures: inout [EncoderError]
    ) throws(EncoderError) -> VideoEncoder? {
        do throws(EncoderError) {
            let connection = try inputs.connection(to: node)
            let codec = configuration.codec
            let capabilities = try EncoderCapabilities.query(connection, codecs: [codec])
            let candidates = request.entryPoints.map { entryPoint in
                VAAPIEncoder.Candidate(
                    codec: codec, connection: connection, entryPoint: entryPoint,
                    capabilities: capabilities.filter { $0.entryPoint == entryPoint })
            }
            for candidate in candidates {
                if excluding.contains(candidate.label) {
                    failures.append(failedBefore(candidate.label))
                    continue
                }
                do throws(EncoderError) {
                    return try VAAPIEncoder.open(
                        configuration, source: source, on: candidate, upload: request.upload,
                        inputs: inputs, regulator: regulator)
                } catch {
                    switch error.kind {
                    case .contradiction, .driverHangs: throw error
                    default: failures.append(error)
                    }
                }
            }
        } catch {
            if case .contradiction = error.kind { throw error }
            if case .driverHangs = error.kind { inputs.recordHang(on: node) }
            failures.append(error)
        }
        return nil
    }
}

extension EncoderRequest {
    fileprivate var entryPoints: [EncoderCapabilities.EntryPoint] {
        switch lowPower {
        case .auto: [.encSlice, .encSliceLP]
        case .on: [.encSliceLP]
        case .off: [.encSlice]
        }
    }
}
