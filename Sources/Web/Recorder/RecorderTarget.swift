import Network

/// What a request wants of a camera's recorder.
enum RecorderTarget: String, Hashable, Sendable, CaseIterable {
    /// What it did and lost so far, as JSON.
    case statistics = "stats.json"
    /// The camera's controls, as JSON.
    case controls = "controls.json"
    /// What its doctor finds, as JSON.
    case findings = "doctor.json"
    /// A picture.
    case snapshot = "snapshot.jpg"
    /// Where a form goes that changes something.
    case command = "command"

    /// Reads `NAME/stats.json` and the like.
    /// - Returns: the camera's name and what is wanted; nil if it means nothing.
    static func read(_ path: Substring) -> (camera: String, target: RecorderTarget)? {
        guard let slash = path.lastIndex(of: "/"), let camera = PercentEncoding.decoded(path[..<slash]),
            let target = RecorderTarget(rawValue: String(path[path.index(after: slash)...]))
        else { return nil }
        return (camera, target)
    }
}
