import CamCommandLine

/// `door=/srv/video/door`
struct RecordingsArgument: ExplainedArgument {
    static let requirement = "expected NAME=FOLDER, as in door=/var/lib/camrec/door"

    let name: String
    let folder: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (name, folder) = (String(parts[0]), String(parts[1]))
    }
}
