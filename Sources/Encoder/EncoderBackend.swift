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
