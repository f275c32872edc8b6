import CamPlatform
import Containers
import Glibc

/// What to do with the marks of segments that are kept: no limit removes them, although they count.
package enum KeepingCommand: Sendable, Hashable {
    /// Keeps segments, or releases them.
    case mark(SegmentRange, isKept: Bool)
    /// Lists the segments that are kept.
    case list
}

/// A segment, or all segments of a journal from one to another, by their paths.
package struct SegmentRange: Sendable, Hashable {
    package let first: String
    /// Nil for one segment.
    package let last: String?

    package init(first: String, last: String? = nil) { (self.first, self.last) = (first, last) }
}

/// Segments that are kept, or that a command named.
package struct KeptSegments: Sendable, Hashable {
    /// In the order of their recording; of very many only the newest.
    package var segments: [KeptSegment] = []
    /// The number of all of them.
    package var count = 0
    /// Bytes of all of them that have ended.
    package var bytes = 0

    /// More than people look through.
    private static let most = 1000
    /// The most bytes of paths, so that an answer fits into a line.
    private static let mostPathBytes = 128 << 10

    package init() {}

    /// - Parameter segments: in the order of their recording.
    init(_ segments: [KeptSegment]) {
        (count, bytes) = (segments.count, segments.reduce(0) { $0.addingSaturated($1.bytes ?? 0) })
        var room = Self.mostPathBytes
        let newest = segments.suffix(Self.most).reversed().prefix {
            room -= $0.path.utf8.count
            return room >= 0
        }
        self.segments = newest.reversed()
    }

    /// Adds the segments of another output.
    package mutating func add(_ others: KeptSegments) {
        segments += others.segments
        count += others.count
        bytes = bytes.addingSaturated(others.bytes)
    }
}

/// A segment that is kept.
package struct KeptSegment: Sendable, Hashable {
    /// From the root, if that is known.
    package let path: String
    /// Nil while it is being written.
    package let bytes: Int?
    /// The file's time of creation; nil if the file system knows none.
    package let begun: WallTime?
}

/// Why segments are not kept or released.
package enum KeepingRefusal: Error, Sendable, Equatable {
    /// The journal has no such segment.
    case unknown(String)
    /// The file is not the one that was recorded.
    case replaced(String)
    /// Nothing is removed, so that there is no journal.
    case noLimits
    /// The writer has no room for a command, or has ended.
    case busy
    /// The writer has not answered in time.
    case silent
    case failed(OutputError)
}

// MARK: - The journal's marks

extension SegmentJournal {
    /// Keeps segments, releases them, or lists those that are kept.
    func carryOut(_ command: KeepingCommand) throws(KeepingRefusal) -> KeptSegments {
        switch command {
        case .mark(let range, let isKept): try mark(range, isKept: isKept)
        case .list: kept(entries.filter(\.isKept))
        }
    }

    private func mark(_ range: SegmentRange, isKept: Bool) throws(KeepingRefusal) -> KeptSegments {
        do throws(OutputError) { try refresh() } catch { throw .failed(error) }
        restoreStuck([range.first, range.last].compactMap(\.self).flatMap(names(of:)))
        let first = try index(of: range.first)
        let last = try range.last.map { (path) throws(KeepingRefusal) in try index(of: path) } ?? first
        let indices = Array(min(first, last)...max(first, last))
        do throws(OutputError) { try setKept(isKept, at: indices) } catch { throw .failed(error) }
        return kept(indices.map { entries[$0] })
    }

    private func index(of path: String) throws(KeepingRefusal) -> Int {
        let names = names(of: path)
        guard let index = entries.lastIndex(where: { names.contains($0.files[0].name) }) else {
            throw foreign.contains { names.contains($0.files[0].name) } ? .replaced(path) : .unknown(path)
        }
        guard isInPlace(entries[index]) else { throw .replaced(path) }
        return index
    }

    /// The names that a path may have in the journal: it may begin with the folder, or at the root.
    private func names(of path: String) -> [String] {
        let folder = names[0].folder
        var found = [path.hasPrefix("./") ? String(path.dropFirst(2)) : path]
        if folder != ".", path.hasPrefix(folder + "/") {
            found.append(String(path.dropFirst(folder.count + 1)))
        }
        if let own = Folder.absolute(folder), let place = Folder.absolute(Folder.of(path)) {
            let whole = (place == "/" ? "" : place) + "/" + path.split(separator: "/").suffix(1).joined()
            let start = own == "/" ? "/" : own + "/"
            if whole.hasPrefix(start) { found.append(String(whole.dropFirst(start.count))) }
        }
        return found
    }

    private func kept(_ entries: [Entry]) -> KeptSegments {
        let folder = Folder.absolute(names[0].folder) ?? names[0].folder
        return KeptSegments(entries.map { $0.kept(in: folder) })
    }
}

extension SegmentJournal.Entry {
    /// - Parameter folder: that of the pattern, from the root.
    fileprivate func kept(in folder: String) -> KeptSegment {
        var begun: WallTime?
        if case .birth(let birth)? = files[0].mark { begun = birth }
        return KeptSegment(
            path: (folder == "/" ? "" : folder) + "/" + files[0].name, bytes: size, begun: begun)
    }
}

// MARK: - Without a recorder

/// Keeps segments whose recorder does not run, and lists the segments that are kept.
package enum SegmentKeeping {
    /// A folder may be so far above a segment.
    private static let mostParents = 16

    /// Keeps segments, or releases them.
    /// - Returns: the segments of the range.
    /// - Throws: `failed` with `journalInUse` if a recorder runs.
    package static func mark(_ range: SegmentRange, isKept: Bool) throws(KeepingRefusal) -> KeptSegments {
        try open(range.first).carryOut(.mark(range, isKept: isKept))
    }

    /// Lists the segments in a folder's journals that are kept. A recorder may be running.
    /// - Returns: nil if the folder has no journal.
    package static func list(in folder: String) throws(KeepingRefusal) -> KeptSegments? {
        guard let descriptor = opendir(folder) else {
            throw .failed(OutputError(.notRead(errno: errno), output: folder))
        }
        closedir(descriptor)
        let paths = journals(in: folder)
        guard !paths.isEmpty else { return nil }
        let root = Folder.absolute(folder) ?? folder
        var list = KeptSegments()
        for path in paths {
            let entries = try read(path).filter { entry in
                // Somebody may have removed it.
                entry.isKept && access("\(folder)/\(entry.files[0].name)", F_OK) == 0
            }
            list.add(KeptSegments(entries.map { $0.kept(in: root) }))
        }
        return list
    }

    /// Opens the journal that lists a segment: it is in the segment's folder, or in one above.
    private static func open(_ path: String) throws(KeepingRefusal) -> SegmentJournal {
        guard let place = Folder.absolute(Folder.of(path)) else { throw .unknown(path) }
        var (folder, name) = (place, path.split(separator: "/").suffix(1).joined())
        for _ in 0..<mostParents {
            for journal in journals(in: folder) where try lists(name, journal) {
                do throws(OutputError) {
                    return try SegmentJournal(
                        path: journal, names: [FileNamePattern("\(folder)/*", expandsTime: false)],
                        keepsMissing: true)
                } catch { throw .failed(error) }
            }
            guard folder != "/" else { break }
            name = "\(folder.split(separator: "/").suffix(1).joined())/\(name)"
            folder = Folder.of(folder)
        }
        throw .unknown(path)
    }

    /// The paths of a folder's journals. camrec creates neither folders nor links of that name.
    private static func journals(in folder: String) -> [String] {
        Folder.names(in: folder).sorted()
            .filter { $0.hasPrefix(".") && $0.hasSuffix(SegmentJournal.suffix) }
            .map { folder == "/" ? "/\($0)" : "\(folder)/\($0)" }
            .filter { FileFacts(path: $0)?.isRegular == true }
    }

    private static func lists(_ name: String, _ journal: String) throws(KeepingRefusal) -> Bool {
        try read(journal).contains { $0.files[0].name == name }
    }

    private static func read(_ journal: String) throws(KeepingRefusal) -> [SegmentJournal.Entry] {
        do throws(OutputError) {
            return try SegmentJournal.entries(of: JournalFile.lines(path: journal))
        } catch {
            throw .failed(error)
        }
    }
}

// MARK: - While a recorder runs

/// A command for the thread that writes an output, and its answer.
package final class KeepingRequest: @unchecked Sendable {
    // Safe to share: the state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private let command: KeepingCommand
    private var state = State.waiting

    private enum State {
        case waiting, begun, withdrawn
        case answered(Result<KeptSegments, KeepingRefusal>)
    }

    package init(_ command: KeepingCommand) { self.command = command }

    /// Carries the command out, unless its sender waits no more.
    package func carryOut(_ body: (KeepingCommand) throws(KeepingRefusal) -> KeptSegments) {
        let isWanted = monitor.withLock {
            guard case .waiting = state else { return false }
            state = .begun
            return true
        }
        guard isWanted else { return }
        let result = Result { () throws(KeepingRefusal) in try body(command) }
        monitor.withLock {
            state = .answered(result)
            monitor.signal()
        }
    }

    /// Waits for the answer; after the deadline the command is not carried out unless that has begun.
    package func answer(until deadline: Instant) throws(KeepingRefusal) -> KeptSegments {
        let result: Result<KeptSegments, KeepingRefusal> = monitor.withLock {
            while true {
                if case .answered(let result) = state { return result }
                guard Instant.now < deadline else {
                    if case .waiting = state { state = .withdrawn }
                    return .failure(.silent)
                }
                monitor.wait(until: deadline)
            }
        }
        return try result.get()
    }
}
