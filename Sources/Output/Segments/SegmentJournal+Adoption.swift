import Files

extension SegmentJournal {
    /// Makes the entries that lead to other files than were written those of the files that are there, where these are
    /// as large as the journal says.
    /// - Returns: how many there are now, and how many stay as they are.
    func adopt() throws(OutputError) -> (adopted: Int, left: Int) {
        let folder = names[0].folder
        var (adopted, left): ([Entry], [Entry]) = ([], [])
        for entry in foreign {
            guard let facts = facts(of: entry.files[0], in: folder), facts.isRegular, facts.birth != 0,
                entry.size == nil || entry.size == facts.size
            else {
                left.append(entry)
                continue
            }
            let files = entry.files.map { file in
                // Timestamps elsewhere stay what they are: their folder is not in the journal.
                File(name: file.name, birth: self.facts(of: file, in: folder)?.birth ?? file.birth)
            }
            adopted.append(Entry(files: files, size: facts.size))
        }
        try replaceForeign(by: adopted, leaving: left)
        return (adopted.count, left.count)
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
    }

    /// Takes over the recordings listed in a folder's journals.
    public static func adopt(in folder: String) throws(OutputError) -> Result {
        var result = Result()
        for name in Folder.names(in: folder).sorted()
        where name.hasPrefix(".") && name.hasSuffix(SegmentJournal.suffix) {
            let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            let journal = try SegmentJournal(
                path: path, names: [SegmentNames("\(folder)/*", expandsTime: false)])
            let (adopted, left) = try journal.adopt()
            result.journals += 1
            result.adopted += adopted
            result.left += left
        }
        return result
    }
}
