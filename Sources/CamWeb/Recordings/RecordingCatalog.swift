import CamPlatform
import Glibc
import Containers

/// Lists the recordings of a camera and when each was made. Reads the disk on the threads of its callers, one
/// at a time.
final class RecordingCatalog: @unchecked Sendable {
    // Safe to share: each part's state is accessed with that part's lock held.
    private let place: RecordingsPlace
    /// Held while the disk is read.
    private let reading = Monitor()
    private var probes: [RecordingFile: Result<RecordingProbe, RemuxError>] = [:]
    /// Protects the fields below; never held while the disk is read.
    private let table = Monitor()
    private var folder: RecordingFolder?
    private var segments: [UInt64: Segment] = [:]
    private var ids: [Name: UInt64] = [:]
    private var nextID: UInt64

    /// The key by which a file keeps its number.
    private struct Name: Hashable {
        let identity: FileIdentity
        let path: [String]

        init(_ file: RecordingFile) { (identity, path) = (file.identity, file.path) }
    }

    /// The result of listing.
    struct Listing {
        /// In the order of their beginnings.
        var segments: [Segment] = []
        var problems: [RecordingProblem] = []
        /// Whether all files were examined.
        var isComplete = true
        /// From the first to the last picture of all examined recordings; nil if there are none.
        var extent: Range<WallTime>?
    }

    init(_ place: RecordingsPlace) {
        self.place = place
        // Numbers of an earlier run of camweb must not name other files.
        nextID = UInt64(max(0, WallTime.now.seconds)) << 20
    }

    /// Lists the recordings in a range of time.
    /// - Parameter deadline: files that could not be examined by then are left out.
    func list(_ time: Range<WallTime>, until deadline: Instant) -> Listing {
        reading.withLock {
            guard let folder = openFolder() else {
                return Listing(problems: [RecordingProblem(name: place.folder, reason: Self.reason(errno))])
            }
            let content = folder.content(of: place)
            var listing = Listing(problems: content.problems, isComplete: true)
            if content.isTooMuch {
                listing.problems.append(
                    RecordingProblem(
                        name: place.folder, reason: "too many files; only \(content.files.count) are shown"))
            }
            forget(allBut: content.files)
            // The newest recordings matter most.
            for file in content.files.sorted(by: { $0.modification > $1.modification }) {
                guard let result = probe(file, in: folder, time, until: deadline) else { continue }
                note(result, file, time, in: &listing)
            }
            listing.isComplete = listing.isComplete && Instant.now < deadline
            listing.segments.sort { $0.time.lowerBound < $1.time.lowerBound }
            return listing
        }
    }

    /// Opens a recording that was listed.
    func open(_ id: UInt64) throws(Refusal) -> (segment: Segment, recording: OpenRecording) {
        let found = table.withLock { segments[id].flatMap { segment in folder.map { (segment, $0) } } }
        guard let (segment, folder) = found else { throw .noSegment }
        guard let recording = segment.file.open(in: folder.descriptor) else {
            throw errno == EACCES ? .unreadable(segment.file.name, Self.reason(EACCES)) : .noSegment
        }
        return (segment, recording)
    }

    private func openFolder() -> RecordingFolder? {
        if let folder = table.withLock({ folder }), !folder.isGone { return folder }
        let opened = RecordingFolder(path: place.folder)
        let code = errno
        table.withLock { folder = opened }
        errno = code
        return opened
    }

    /// - Returns: nil if the deadline has passed, or the file ends before the requested range.
    private func probe(
        _ file: RecordingFile, in folder: RecordingFolder, _ time: Range<WallTime>, until deadline: Instant
    ) -> Result<RecordingProbe, RemuxError>? {
        if let known = probes[file] {
            // A recorder may have ended the file without writing again.
            guard case .success(let probe) = known, probe.isGrowing else { return known }
        }
        guard file.modification >= time.lowerBound, Instant.now < deadline else { return nil }
        guard let recording = file.open(in: folder.descriptor) else {
            let code = errno
            guard code != ENOENT else { return nil }
            return .failure(.input(InputError(.notOpened(errno: code), input: file.name)))
        }
        let result: Result<RecordingProbe, RemuxError>
        do throws(RemuxError) {
            result = .success(try RecordingProbe(file, open: recording))
        } catch {
            // A recorder has just begun the file.
            if recording.isGrowing { return nil }
            result = .failure(error)
        }
        probes[file] = result
        return result
    }

    private func note(
        _ result: Result<RecordingProbe, RemuxError>, _ file: RecordingFile, _ time: Range<WallTime>,
        in listing: inout Listing
    ) {
        switch result {
        case .failure(let error):
            listing.problems.append(RecordingProblem(name: file.name, reason: "\(error)"))
        case .success(let probe):
            let extent = listing.extent ?? probe.time
            listing.extent =
                min(extent.lowerBound, probe.time.lowerBound)..<max(extent.upperBound, probe.time.upperBound)
            if probe.time.overlaps(time) { listing.segments.append(segment(file, probe)) }
        }
    }

    private func segment(_ file: RecordingFile, _ probe: RecordingProbe) -> Segment {
        table.withLock {
            let id = ids[Name(file)] ?? nextID
            if id == nextID { nextID += 1 }
            ids[Name(file)] = id
            let segment = Segment(id: id, file: file, probe: probe, isEvent: place.areEvents)
            segments[id] = segment
            return segment
        }
    }

    private func forget(allBut files: [RecordingFile]) {
        let (known, names) = (Set(files), Set(files.map(Name.init)))
        probes = probes.filter { known.contains($0.key) }
        table.withLock {
            ids = ids.filter { names.contains($0.key) }
            segments = segments.filter { names.contains(Name($0.value.file)) }
        }
    }

    private static func reason(_ code: Int32) -> String {
        let text = String(cString: strerror(code))
        return code == EACCES
            ? "\(text); add camweb's user to the group that may read it, as in: usermod -aG camrec USER"
            : text
    }
}

// MARK: Listed recordings

/// A listed recording.
struct Segment: Hashable, Sendable {
    /// The number of the recording in requests. No other file gets it while camweb runs.
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
    private static let longest = Duration.seconds(31 * 86400)
    /// How long finding the end of a file may take.
    private static let patience = Duration.seconds(2)

    /// Examines a recording.
    ///
    /// Matroska and MP4 files contain the time of their beginning. Other files end at the time of the last
    /// write.
    init(_ file: RecordingFile, open recording: OpenRecording) throws(RemuxError) {
        isGrowing = recording.isGrowing
        let reader = try RecordingReader(descriptor: recording.descriptor, name: file.name)
        let start = reader.metadata.start
        // The end of a growing file moves on anyway, so the last write is exact enough.
        if isGrowing, let start = start ?? recording.birth, start < file.modification,
            file.modification - start < Self.longest
        {
            time = start..<file.modification
        } else if let start {
            time = start..<start + max(.milliseconds(1), try Self.length(reader, file))
        } else if !reader.hasTimes, let birth = recording.birth, birth < file.modification,
            file.modification - birth < Self.longest
        {
            // The length of a raw stream is known only after reading all of it.
            time = birth..<file.modification
        } else {
            time = file.modification - (try Self.length(reader, file))..<file.modification
        }
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
}
