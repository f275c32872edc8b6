import Bitstream
import Output
import CamPlatform

/// Where a camera's recordings are.
public struct RecordingsPlace: Hashable, Sendable {
    /// The folder that all of them are beneath.
    let folder: String
    /// The `strftime` pattern of their names from there; nil for all that have a recording's extension.
    let pattern: String?
    /// Whether each of them is an event (`--ring`).
    let areEvents: Bool

    /// The recordings in a folder and its folders, whatever their names.
    public init(folder: String) { (self.folder, pattern, areEvents) = (folder, nil, false) }

    /// The recordings of a recorder's settings; nil if it writes no files that can be played.
    /// - Parameter stateFolder: what relative paths begin at.
    init?(_ settings: SettingsFile, stateFolder: String) {
        let outputs = settings.entries.filter { $0.key == "output" }.map(\.value)
        guard let output = outputs.first(where: Self.isRecording) else { return nil }
        let path = output.hasPrefix("./") ? String(output.dropFirst(2)) : output
        let fixed = FileNamePattern(path, expandsTime: true).folder
        switch fixed {
        case ".": (folder, pattern) = (stateFolder, path)
        case "/": (folder, pattern) = ("/", String(path.dropFirst()))
        default:
            folder = fixed.hasPrefix("/") ? fixed : "\(stateFolder)/\(fixed)"
            pattern = String(path.dropFirst(fixed.count + 1))
        }
        areEvents = settings.entries.contains { $0.key == "ring" }
    }

    /// How many folders a recording may be beneath.
    var depth: Int { pattern.map { $0.count { $0 == "/" } } ?? Self.usualDepth }

    private static let usualDepth = 4

    /// Whether a file is one of the recordings.
    /// - Parameter path: from the folder.
    func covers(_ path: String) -> Bool {
        guard Self.isRecording(path) else { return false }
        return pattern.map { FileNamePattern($0, expandsTime: true).covers(path) } ?? true
    }

    /// Whether a name is a recording's, rather than a server's address or standard output.
    private static func isRecording(_ path: String) -> Bool {
        !path.contains("://") && (ContainerFormat(path: path) != nil || Codec(fileName: path) != nil)
    }
}
