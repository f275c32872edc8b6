/// Which microphone a recording uses.
public struct MicrophoneChoice: Sendable {
    private let wanted: String?
    private let camera: String
    private let finder: MicrophoneFinder

    /// ALSA's name for the microphone that the user has chosen for everything.
    public static let systemDefault = "default"

    /// - Parameters:
    ///   - name: ALSA's name, or that of the test microphone; nil for the camera's own, or else ALSA's default.
    ///   - camera: the camera's device.
    public init(_ name: String?, camera: String, finder: MicrophoneFinder = MicrophoneFinder()) {
        (wanted, self.camera, self.finder) = (name, camera, finder)
    }

    /// ALSA's name for it, as it is now.
    public var name: String { wanted ?? ownMicrophone?.name ?? Self.systemDefault }

    /// Opens it. Looks again each time, because it may have been plugged in elsewhere.
    public func open() throws(SoundError) -> any SoundSource {
        if wanted == TestMicrophone.testName { return TestMicrophone() }
        return try Microphone(name)
    }

    /// What an open one is and how it samples, for people, with why it was chosen.
    public func title(of microphone: any SoundSource) -> String {
        let entry = finder.microphones.first { $0.name == microphone.name }
        let title = entry.map { "\($0.title) (\($0.name))" } ?? microphone.name
        let reason =
            wanted != nil
            ? ""
            : microphone.name == Self.systemDefault
                ? ", because the camera has no microphone" : ", the camera's own"
        return "\(title)\(reason), \(microphone.format)"
    }

    private var ownMicrophone: MicrophoneEntry? { finder.microphone(ofCamera: camera) }
}
