import CamNetworking

/// A resource of a camera's recorder.
enum RecorderTarget: String, Hashable, Sendable, CaseIterable {
    /// Its statistics, as JSON.
    case statistics = "stats.json"
    /// The camera's controls, as JSON.
    case controls = "controls.json"
    /// The doctor's findings, as JSON.
    case findings = "doctor.json"
    /// A picture.
    case snapshot = "snapshot.jpg"
    /// Takes the form of a command.
    case command = "command"

    /// Reads `NAME/stats.json` and the like.
    /// - Returns: the camera's name and the resource; nil for an unknown one.
    static func read(_ path: Substring) -> (camera: String, target: RecorderTarget)? {
        guard let slash = path.lastIndex(of: "/"), let camera = PercentEncoding.decoded(path[..<slash]),
            let target = RecorderTarget(rawValue: String(path[path.index(after: slash)...]))
        else { return nil }
        return (camera, target)
    }
}
