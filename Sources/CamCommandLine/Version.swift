import CBuild

/// The version of camrec and its programs.
package enum Version {
    /// The release, such as `0.1.0`.
    package static let current = "0.1.0"

    /// The name and release of camrec, for files that name their writer.
    package static var program: String { "camrec \(current)" }

    /// The commit that was built; nil if the build was given none.
    package static var commit: String? {
        let commit = String(cString: cbuild_commit())
        return commit.isEmpty ? nil : commit
    }

    /// Returns what `--version` prints: the program, then each library with the version that is loaded.
    package static func text(of program: String, commit: String? = commit, libraries: [String]) -> String {
        let build = commit.map { " (commit \(short($0)))" } ?? ""
        return (["\(program) \(current)\(build)"] + libraries).joined(separator: "\n")
    }

    /// Shortens a full hash as `git log --abbrev=12` does, and keeps everything else.
    private static func short(_ commit: String) -> String {
        commit.count == 40 && commit.allSatisfy(\.isHexDigit) ? String(commit.prefix(12)) : commit
    }
}
