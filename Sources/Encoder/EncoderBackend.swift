import CamPictures

/// A way of encoding, such as a GPU's drivers or a library. To add one, write a type that opens a
/// `VideoEncoder` and give it a place in `EncoderRequest.backends`.
protocol EncoderBackend {
    /// Whether calls into its encoders wait for a driver, which may never answer.
    var waitsForDriver: Bool { get }

    /// Opens the first of its encoders that accepts the configuration and has not failed before.
    ///
    /// Returns nil if there is none, and adds the reasons to the attempt. Throws if no encoder of any back
    /// end can do it.
    func open(_ attempt: inout EncoderAttempt) throws(EncoderError) -> VideoEncoder?
}

/// How to open an encoder, and the results of earlier attempts.
struct EncoderAttempt {
    let configuration: EncoderConfiguration
    let source: PictureFormat
    let inputs: EncoderInputs
    let regulator: RateRegulator
    /// Labels of encoders that are known to fail.
    let failedLabels: [String]
    /// Why earlier ones did not open.
    private(set) var failures: [EncoderError] = []
    /// Whether an encoder of the current back end was skipped because it had failed before.
    private(set) var hasLeftOut = false

    init(
        configuration: EncoderConfiguration, source: PictureFormat, inputs: EncoderInputs,
        regulator: RateRegulator, failedLabels: [String] = []
    ) {
        self.configuration = configuration
        self.source = source
        self.inputs = inputs
        self.regulator = regulator
        self.failedLabels = failedLabels
    }

    /// Starts with the next back end.
    mutating func beginBackend() { hasLeftOut = false }

    /// Notes why an encoder did not open.
    mutating func fail(_ error: EncoderError) { failures.append(error) }

    /// Returns whether to skip an encoder because it has failed before, and notes that.
    mutating func leavesOut(_ label: String) -> Bool {
        guard failedLabels.contains(label) else { return false }
        hasLeftOut = true
        fail(EncoderError(.openFailed(encoder: label, detail: "it failed on its first picture")))
        return true
    }

    /// Why no encoder opened.
    var error: EncoderError {
        let reasons = failures.map(\.reason)
        if hasLeftOut { return EncoderError(.exhausted(reasons)) }
        if failures.count == 1, let only = failures.first { return only }
        return EncoderError(.noneUsable(reasons))
    }
}

/// An encoder that was opened, and why the others were not.
struct OpenedEncoder {
    /// Open, and expecting its first picture.
    let encoder: VideoEncoder
    /// Why each encoder that would have come before it was passed over.
    let passedOver: [String]

    /// Opens the first encoder of the first back end that accepts the configuration.
    static func open(
        _ backends: [any EncoderBackend], _ attempt: consuming EncoderAttempt
    ) throws(EncoderError) -> OpenedEncoder {
        for backend in backends {
            attempt.beginBackend()
            if let encoder = try backend.open(&attempt) {
                return OpenedEncoder(encoder: encoder, passedOver: attempt.failures.map(\.reason))
            }
        }
        throw attempt.error
    }
}

/// Which encoder is wanted.
public struct EncoderRequest: Sendable, Hashable {
    /// Hardware, software, or either.
    public enum Preference: String, Sendable, Hashable, CaseIterable {
        /// VAAPI if it works, otherwise software.
        case auto
        case vaapi, software
    }

    /// Which of a driver's entry points.
    public enum LowPower: String, Sendable, Hashable, CaseIterable {
        /// EncSlice if the driver has it, otherwise EncSliceLP.
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
    /// What decodes a camera's Motion JPEG.
    public var jpeg = JPEGWay.auto
    /// Whether a GPU reads the camera's memory.
    public var zeroCopy = ZeroCopyWay.auto

    /// Requests the best encoder that works.
    public init() {}
}

extension EncoderRequest {
    /// The back ends that may be used, the best first.
    var backends: [any EncoderBackend] {
        let vaapi = VAAPIBackend(
            renderNode: renderNode, lowPower: lowPower, upload: upload, jpeg: jpeg, zeroCopy: zeroCopy)
        return switch preference {
        case .vaapi: [vaapi]
        case .software: [SoftwareBackend()]
        // A render node that was named must be used, and so must the GPU where it is to decode or to read.
        case .auto:
            renderNode == nil && jpeg != .gpu && zeroCopy != .on ? [vaapi, SoftwareBackend()] : [vaapi]
        }
    }
}
