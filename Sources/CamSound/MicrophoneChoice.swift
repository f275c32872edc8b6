/// Which microphone a recording uses: decided once, so that no other takes its place when it is away.
public struct MicrophoneChoice: Sendable {
    /// Why this one.
    public enum Reason: Sendable, Hashable {
        case requested
        case inCamera
        /// The camera has none, or there is no camera.
        case systemDefault
    }

    /// ALSA's name for it, or that of the test microphone.
    public let name: String
    public let reason: Reason
    /// What people call it; nil if only ALSA knows it.
    private let title: String?

    /// ALSA's name for the microphone that the user has chosen for everything.
    public static let systemDefault = "default"

    /// - Parameters:
    ///   - name: as requested; nil for the camera's own, or else ALSA's default.
    ///   - camera: the camera's device.
    public init(_ name: String?, camera: String, finder: MicrophoneFinder = MicrophoneFinder()) {
        if let name {
            (self.name, reason) = (name, .requested)
            title = finder.microphones.first { $0.name == name }?.title
        } else if let own = finder.microphone(ofCamera: camera) {
            (self.name, reason, title) = (own.name, .inCamera, own.title)
        } else {
            (self.name, reason, title) = (Self.systemDefault, .systemDefault, nil)
        }
    }

    /// Opens it.
    public func open() throws(SoundError) -> any SoundSource {
        if name == TestMicrophone.testName { return TestMicrophone() }
        return try Microphone(name)
    }

    /// What it is and why, for people.
    public var summary: String {
        let name = title.map { "\($0) (\(self.name))" } ?? self.name
        return switch reason {
        case .requested: name
        case .inCamera: "\(name), the camera's own"
        case .systemDefault: "\(name), because the camera has no microphone of its own"
        }
    }
}
