import Files
import Glibc

extension SegmentJournal {
    /// What came of the entries that led to other files than were written.
    struct Adoption {
        var adopted = 0
        /// Their files are not as large as they were.
        var left = 0
        /// Their files are not there.
        var missing = 0
    }

    /// Makes the entries that lead to other files than were written those of the files that are there, where these are
    /// as large as the journal says. All others stay as they are.
    func adopt() throws(OutputError) -> Adoption {
        let folder = names[0].folder
        var (adopted, rest, result): ([Entry], [Entry], Adoption) = ([], [], Adoption())
        for entry in foreign {
            guard let facts = facts(of: entry.files[0].name, in: folder) else {
                rest.append(entry)
                result.missing += 1
                continue
            }
            guard facts.isRegular, entry.size == facts.size || entry.size == nil && facts.birth != 0 else {
                rest.append(entry)
                result.left += 1
                continue
            }
            let files = entry.files.map { file in
                // Timestamps elsewhere stay what they are: their folder is not in the journal.
                File(name: file.name, birth: self.facts(of: file.name, in: folder)?.birth ?? file.birth)
            }
            adopted.append(Entry(files: files, size: facts.size))
        }
        result.adopted = adopted.count
        try replaceForeign(by: adopted, leaving: rest)
        return result
    }
}

/// Recordings that were copied to another folder or disk, taken over from where they were made.
public enum SegmentAdoption {
    /// What came of a folder.
    public struct Result: Sendable, Equatable {
        public var journals = 0
        /// Recordings that count for the limits from now on.
        public var adopted = 0
        /// Files that are not as large as what was recorded under their names: they stay strangers.
        public var left = 0
        /// Recordings that are not there, perhaps because they have not been copied yet.
        public var missing = 0
    }

    /// Takes over the recordings listed in a folder's journals.
    public static func adopt(in folder: String) throws(OutputError) -> Result {
        guard let descriptor = opendir(folder) else {
            throw OutputError(.notRead(errno: errno), output: folder)
        }
        closedir(descriptor)
        var result = Result()
        for name in Folder.names(in: folder).sorted()
        where name.hasPrefix(".") && name.hasSuffix(SegmentJournal.suffix) {
            let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            // A folder or a link of that name is somebody else's.
            guard FileFacts(path: path)?.isRegular == true else { continue }
            let journal = try SegmentJournal(
                path: path, names: [SegmentNames("\(folder)/*", expandsTime: false)], keepsMissing: true)
            let adoption = try journal.adopt()
            result.journals += 1
            result.adopted += adoption.adopted
            result.left += adoption.left
            result.missing += adoption.missing
        }
        return result
    }
}
