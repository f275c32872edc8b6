import CamPlatform
import Containers
import Glibc
import Synchronization

/// Lists the recordings of a camera and when each was made, from an index that a thread keeps up to date.
final class RecordingCatalog: Sendable {
    private let place: RecordingsPlace
    private let shared: SharedIndex
    private let openFile: FileOpening

    /// The most recordings in a list; more are listed as runs.
    private static let mostSegments = 10_000
    /// The number of parts of the listed time. Recordings closer together than a part are one run.
    private static let resolution = 2000

    /// Opens the file of a recording, which may hang.
    typealias FileOpening =
        @Sendable (RecordingFile, RecordingFolder) throws(FileLocation.Failure) ->
        OpenRecording

    /// The result of listing.
    struct Listing {
        /// In the order of their beginnings.
        var segments: [Segment] = []
        /// Instead of segments, if there are too many of them.
        var runs: [RecordingIndex.Run]?
        var problems: [RecordingProblem] = []
        /// Whether all files were examined that may have been recorded in this time.
        var isComplete = true
        /// What is still to do; nil if the index is complete.
        var progress: Progress?
        /// From the first to the last picture of all examined recordings, leaving out wrong dates; nil if there are none.
        var extent: Range<WallTime>?
    }

    /// The progress of an index.
    struct Progress: Encodable, Hashable {
        /// Files found so far, and those of them that wait for their examination.
        let found: Int
        let waiting: Int
    }

    /// An index with the thread that keeps it up to date. Its file has one user at a time.
    private final class SharedIndex: Sendable {
        let index: RecordingIndex
        let indexer: RecordingIndexer

        init(_ place: RecordingsPlace, in folder: String?) {
            index = RecordingIndex(place, in: folder)
            indexer = RecordingIndexer(place, index)
        }

        deinit { indexer.stop() }
    }

    /// - Parameters:
    ///   - indexFolder: the folder for the index; nil keeps it in memory.
    ///   - openFile: opens the file of a listed recording.
    init(
        _ place: RecordingsPlace, indexFolder: String? = nil,
        openFile: @escaping FileOpening = { (file, folder) throws(FileLocation.Failure) in
            try file.open(in: folder)
        }
    ) {
        (self.place, self.openFile) = (place, openFile)
        shared = SharedIndex(place, in: indexFolder)
    }

    /// Creates a catalog that shares the index of another.
    /// - Parameter place: a place of the same files.
    private init(_ place: RecordingsPlace, sharing other: RecordingCatalog) {
        (self.place, openFile, shared) = (place, other.openFile, other.shared)
    }

    private var index: RecordingIndex { shared.index }
    private var indexer: RecordingIndexer { shared.indexer }

    /// The catalog of a place with the same index; nil if the place has other files.
    func catalog(of place: RecordingsPlace) -> RecordingCatalog? {
        if place == self.place { return self }
        return place.hasSameFiles(as: self.place) ? RecordingCatalog(place, sharing: self) : nil
    }

    /// Whether the index is kept in a file.
    var isKept: Bool { index.isKept }

    /// Whether each recording is an event.
    var areEvents: Bool { place.areEvents }

    /// Begins to read the folder, so that the first request need not wait for all of it.
    func start() { indexer.start() }

    /// Returns the path from the root that a recording of a name has; nil if no recording here can have the name.
    func path(of name: String) -> String? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPlain, !parts.contains(where: { ["", ".", ".."].contains($0) }), place.covers(name) else {
            return nil
        }
        return indexer.root.map { $0 == "/" ? "/\(name)" : "\($0)/\(name)" }
    }

    /// Returns the name of a recording within the folder; nil if the recording is elsewhere.
    func name(of path: String) -> String? {
        guard let root = indexer.root, path.hasPrefix(root == "/" ? "/" : root + "/") else { return nil }
        return String(path.dropFirst(root == "/" ? 1 : root.count + 1))
    }

    /// Lists the recordings in a range of time.
    /// - Parameters:
    ///   - most: more than these are listed as runs.
    ///   - deadline: files that could not be examined by then are left out.
    func list(
        _ time: Range<WallTime>, most: Int = RecordingCatalog.mostSegments, until deadline: Instant
    ) -> Listing {
        let (isComplete, state) = indexer.catchUp(after: time.lowerBound, until: deadline)
        guard state.hasFolder else { return Listing(problems: state.problems) }
        let now = WallTime.now
        var listing = Listing(
            problems: state.problems + index.problems(at: now), isComplete: isComplete && !index.isBroken,
            extent: index.extent(at: now))
        if let entries = index.recorded(in: time, most: most) {
            listing.segments = entries.compactMap(segment)
        } else {
            let width = time.upperBound - time.lowerBound
            listing.runs = index.runs(in: time, gap: width / Self.resolution)
        }
        let waiting = index.waitingCount
        if !state.isListed || waiting > 0 {
            listing.progress = Progress(found: state.foundCount, waiting: waiting)
        }
        return listing
    }

    /// What the recordings take, and their disk, as far as the index has them; nil if the disk cannot be read. May wait
    /// for the disk.
    func usage(at now: WallTime) -> StorageUsage? {
        var status = stat()
        guard stat(place.folder, &status) == 0, let space = Volume.space(of: place.folder) else { return nil }
        var usage = StorageUsage(device: UInt64(status.st_dev), total: space.total, free: space.free)
        usage.root = indexer.root
        (usage.bytes, usage.count) = index.sum()
        usage.time = index.extent(at: now)
        if let first = usage.time?.lowerBound {
            let since = max(first, now - StorageUsage.period)
            usage.recent = (index.sum(since: since).bytes, since)
        }
        return usage
    }

    /// Opens a recording that was listed.
    func open(_ id: UInt64) throws(Refusal) -> (segment: Segment, recording: OpenRecording) {
        guard let segment = index[id].flatMap(segment), let folder = indexer.openFolder else {
            throw .noSegment
        }
        do throws(FileLocation.Failure) { return (segment, try openFile(segment.file, folder)) } catch {
            throw error.errno == EACCES
                ? .unreadable(segment.file.name, RecordingProblem.reason(EACCES)) : .noSegment
        }
    }

    private func segment(_ entry: RecordingIndex.Entry) -> Segment? {
        entry.time.map {
            let probe = RecordingProbe(time: $0, isGrowing: entry.state == .growing)
            return Segment(id: entry.id, file: entry.file, probe: probe, isEvent: place.areEvents)
        }
    }
}

// MARK: Catalogs of a server

/// The catalogs of a server's cameras.
///
/// A catalog lives as long as somebody watches its camera or downloads from it, also if the camera's settings change
/// meanwhile, and holds the lock of the index's file. So the camera goes on with the same index.
final class RecordingCatalogs: Sendable {
    private let indexFolder: String?
    private let catalogs = Mutex<[WeakCatalog]>([])

    private struct WeakCatalog {
        weak var catalog: RecordingCatalog?
    }

    /// - Parameter indexFolder: the folder for the indexes; nil keeps them in memory.
    init(indexFolder: String? = nil) { self.indexFolder = indexFolder }

    /// Returns the catalog of a place, and begins to read its folder.
    subscript(place: RecordingsPlace) -> RecordingCatalog {
        let catalog = catalogs.withLock { catalogs in
            catalogs.removeAll { $0.catalog == nil }
            let known = catalogs.compactMap(\.catalog)
            let own =
                known.lazy.compactMap { $0.catalog(of: place) }.first
                ?? RecordingCatalog(place, indexFolder: indexFolder)
            catalogs.append(WeakCatalog(catalog: own))
            return own
        }
        catalog.start()
        return catalog
    }
}

// MARK: Listed recordings

/// A listed recording.
struct Segment: Hashable, Sendable {
    /// The number of the recording in requests. No other file gets it.
    let id: UInt64
    let file: RecordingFile
    let probe: RecordingProbe
    let isEvent: Bool

    var time: Range<WallTime> { probe.time }
}

// MARK: Times of a recording

/// The times of a recording, read from the file.
struct RecordingProbe: Hashable, Sendable {
    /// From the capture of the first picture to the end of the last one.
    let time: Range<WallTime>
    /// Whether a recorder was writing the file.
    let isGrowing: Bool

    /// More than any recording lasts.
    static let longest = Duration.seconds(31 * 86400)
    /// A file with a larger hole was not written to its end: nothing can be copied from it in a reasonable time.
    private static let largestHole = 1 << 30
    /// How long finding the end of a file may take.
    private static let patience = Duration.seconds(2)

    /// Why a file has no times.
    struct Failure: Error {
        let reason: String
        /// Whether the file may be read later: the disk or the system failed, not the file.
        let isTransient: Bool

        init(_ reason: String, isTransient: Bool) { (self.reason, self.isTransient) = (reason, isTransient) }

        init(_ error: RemuxError) {
            reason = "\(error)"
            guard case .input(let error) = error else {
                isTransient = true
                return
            }
            isTransient =
                switch error.kind {
                case .notOpened, .readFailed, .shrunk, .interrupted, .noContainerLibrary: true
                case .notAFile, .malformed, .contradiction: false
                }
        }
    }

    init(time: Range<WallTime>, isGrowing: Bool) { (self.time, self.isGrowing) = (time, isGrowing) }

    /// Examines a recording.
    ///
    /// Matroska and MP4 files contain the time of their beginning. Other files end at the time of the last
    /// write.
    init(_ file: RecordingFile, open recording: OpenRecording) throws(Failure) {
        isGrowing = recording.isGrowing
        do throws(RemuxError) {
            try Self.refuseHole(file, recording)
            let reader = try RecordingReader(descriptor: recording.descriptor, name: file.name)
            time = try Self.time(of: reader, file, birth: recording.birth, isGrowing: isGrowing)
        } catch { throw Failure(error) }
        guard time.upperBound - time.lowerBound < Self.longest else {
            throw Failure("\(file.name): its times span more than a month; it is damaged", isTransient: false)
        }
    }

    private static func time(
        of reader: RecordingReader, _ file: RecordingFile, birth: WallTime?, isGrowing: Bool
    ) throws(RemuxError) -> Range<WallTime> {
        let start = reader.metadata.start
        // The end of a growing file moves on anyway, so the last write is exact enough.
        if isGrowing, let start = start ?? birth, start < file.modification,
            file.modification - start < longest
        {
            return start..<file.modification
        }
        if let start { return start..<start + max(.milliseconds(1), try length(reader, file)) }
        if !reader.hasTimes, let birth, birth < file.modification, file.modification - birth < longest {
            // The length of a raw stream is known only after reading all of it.
            return birth..<file.modification
        }
        return file.modification - (try length(reader, file))..<file.modification
    }

    private static func refuseHole(_ file: RecordingFile, _ recording: OpenRecording) throws(RemuxError) {
        let hole = file.size - recording.dataSize
        guard hole > largestHole else { return }
        let problem =
            "\(hole >> 30) GB of it are a hole, so it is left out; copy what was written: head -c BYTES FILE"
        throw .input(InputError(.malformed(problem), input: file.name))
    }

    private static func length(
        _ reader: RecordingReader, _ file: RecordingFile
    ) throws(RemuxError) -> Duration {
        let deadline = Instant.now + patience
        guard let length = try reader.length(isOver: { Instant.now >= deadline }) else {
            let problem =
                "finding its end takes too long; camrec remux makes an .mkv of it, which has an index"
            throw .input(InputError(.malformed(problem), input: file.name))
        }
        return length
    }
}

// MARK: Problems

/// A problem with a file or a folder of recordings.
struct RecordingProblem: Encodable, Hashable, Sendable {
    /// The path within the folder of recordings; empty for the folder itself.
    let name: String
    let reason: String
    /// The number of the file, if it can be downloaded.
    var id: String?

    /// The problem without names and causes; the file can still be downloaded.
    var inWords: RecordingProblem {
        RecordingProblem(name: "a recording", reason: "cannot be shown; ask an administrator", id: id)
    }

    /// The text of an errno.
    static func reason(_ code: Int32) -> String {
        let text = String(cString: strerror(code))
        return code == EACCES
            ? "\(text); add camweb's user to the group that may read it, as in: usermod -aG camrec USER"
            : text
    }
}

// MARK: Hashes

/// A hash that is the same in every process (FNV-1a), for names and tags.
struct StableHash {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func mix(_ number: UInt64) { value = (value ^ number) &* 0x100_0000_01B3 }

    var text: String { String(value, radix: 16) }
}
