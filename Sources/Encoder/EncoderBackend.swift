import CamPictures

/// A way of encoding, such as a GPU's drivers or a library. To add a back end, write a type that opens a
/// `VideoEncoder` and list it in `EncoderRequest.backends`.
protocol EncoderBackend {
    /// Whether calls into the back end's encoders wait for a driver, which may never answer.
    var waitsForDriver: Bool { get }

    /// Opens the back end's first encoder that accepts the configuration and has not failed before.
    ///
    /// Returns nil if there is no such encoder, and adds the reasons to the attempt. Throws if no encoder of
    /// any back end can satisfy the configuration.
    func open(_ attempt: inout EncoderAttempt) throws(EncoderError) -> VideoEncoder?
}

/// The parameters for opening an encoder, and the failures so far.
struct EncoderAttempt {
    let configuration: CompressionProperties
    let source: PictureFormat
    let inputs: EncoderInputs
    let regulator: RateRegulator
    /// The labels of encoders that are known to fail.
    let failedLabels: [String]
    /// Why earlier encoders did not open.
    private(set) var failures: [EncoderError] = []
    /// Whether an encoder of the current back end was skipped because it had failed before.
    private(set) var hasLeftOut = false

    init(
        configuration: CompressionProperties, source: PictureFormat, inputs: EncoderInputs,
        regulator: RateRegulator, failedLabels: [String] = []
    ) {
        self.configuration = configuration
        self.source = source
        self.inputs = inputs
        self.regulator = regulator
        self.failedLabels = failedLabels
    }

    /// Continues with the next back end.
    mutating func beginBackend() { hasLeftOut = false }

    /// Records why an encoder did not open.
    mutating func fail(_ error: EncoderError) { failures.append(error) }

    /// Returns whether to skip an encoder because it has failed before, and records the reason.
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

// MARK: - Opening

/// An encoder that was opened, and why the others were not.
struct OpenedEncoder {
    /// The open encoder, before its first picture.
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

// MARK: - Request

/// The user's choice of encoder.
public struct EncoderRequest: Sendable, Hashable {
    /// Hardware, software, or either.
    public enum Preference: String, Sendable, Hashable, CaseIterable {
        /// VAAPI if it works, otherwise software.
        case auto
        case vaapi, software
    }

    /// The choice between a driver's entry points.
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
    /// The only render node to use, without a fallback to software; nil for any.
    public var renderNode: String?
    /// The choice between a driver's entry points.
    public var lowPower = LowPower.auto
    /// The method of uploading pictures to the GPU.
    public var upload = UploadMethod.auto
    /// The decoder of a camera's Motion JPEG.
    public var jpeg = JPEGMode.auto
    /// Whether a GPU reads the camera's pictures without a copy.
    public var zeroCopy = ZeroCopyMode.auto

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
        // A named render node rules out software, and so does a request that the GPU decode JPEG or read the
        // camera's memory.
        case .auto:
            renderNode == nil && jpeg != .gpu && zeroCopy != .on ? [vaapi, SoftwareBackend()] : [vaapi]
        }
    }
}
