import CamPlatform
import Glibc
import Containers

extension SegmentJournal {
    /// The result of adopting entries whose names now lead to other files than the recorded ones.
    struct Adoption {
        var adopted = 0
        /// Entries whose files differ in size, or whose size is unknown.
        var left = 0
        /// Entries whose files do not exist.
        var missing = 0
    }

    /// Assigns entries whose names now lead to other files to these files, if their sizes match the journal.
    /// Other entries stay unchanged.
    func adopt() throws(OutputError) -> Adoption {
        let folder = names[0].folder
        var (adopted, rest, result): ([Entry], [Entry], Adoption) = ([], [], Adoption())
        for entry in foreign {
            guard case .success(let facts) = facts(of: entry.files[0].name, in: folder) else {
                rest.append(entry)
                result.missing += 1
                continue
            }
            guard facts.isRegular, entry.size == facts.size else {
                rest.append(entry)
                result.left += 1
                continue
            }
            let files = entry.files.map { file in
                // Timestamps in other folders stay unchanged: they were not copied with the segments.
                guard file.folder == nil, case .success(let facts) = self.facts(of: file.name, in: folder)
                else {
                    return file
                }
                return File(name: file.name, mark: Mark(facts, isComplete: true))
            }
            adopted.append(Entry(files: files, size: facts.size, isKept: entry.isKept))
        }
        result.adopted = adopted.count
        try replaceForeign(by: adopted, leaving: rest)
        return result
    }
}

/// Adopts recordings that were copied to another folder or disk.
package enum SegmentAdoption {
    /// The result of adopting a folder's recordings.
    package struct Result: Sendable, Equatable {
        package var journals = 0
        /// Recordings that count towards the limits from now on.
        package var adopted = 0
        /// Files that are not adopted, because their size differs from the
        /// recorded size, or that size is unknown.
        package var left = 0
        /// Recordings that do not exist, perhaps because they have not been copied yet.
        package var missing = 0
    }

    /// Adopts the recordings listed in a folder's journals.
    package static func adopt(in folder: String) throws(OutputError) -> Result {
        guard let descriptor = opendir(folder) else {
            throw OutputError(.notRead(errno: errno), output: folder)
        }
        closedir(descriptor)
        var result = Result()
        for name in Folder.names(in: folder).sorted()
        where name.hasPrefix(".") && name.hasSuffix(SegmentJournal.suffix) {
            let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            // camrec creates neither folders nor links of that name.
            guard FileFacts(path: path)?.isRegular == true else { continue }
            let journal = try SegmentJournal(
                path: path, names: [FileNamePattern("\(folder)/*", expandsTime: false)], keepsMissing: true)
            let adoption = try journal.adopt()
            result.journals += 1
            result.adopted += adoption.adopted
            result.left += adoption.left
            result.missing += adoption.missing
        }
        return result
    }
}
