import CamNetworking
import CamPlatform
import Containers
import Glibc

/// Keeps the index of a camera's recordings up to date, on a thread of its own: reads the folder once, then follows its
/// changes, and examines each file, the newest first.
final class RecordingIndexer: @unchecked Sendable {
    // Safe to share: the fields below the monitor are accessed with its lock held, and those of the thread by the thread.
    private let place: RecordingsPlace
    private let index: RecordingIndex
    private let wakeUp: EventFD?
    private let monitor = Monitor()
    private var requestCount = 0
    private var servedCount = 0
    /// Counts what the thread does between two looks at its requests.
    private var turnCount = 0
    private var isStopped = false
    private var hasThread = false
    private var state = State()
    private var currentFolder: RecordingFolder?
    /// The path of the open folder from the root.
    private var currentRoot: String?

    /// What the index has, besides its content.
    struct State {
        /// Whether the index has each file of the folder, examined or not, and no others.
        var isListed = false
        var hasFolder = true
        /// The number of files that were found since the reading began.
        var foundCount = 0
        /// The reason why the folder cannot be read.
        var problems: [RecordingProblem] = []
    }

    /// An entry whose name is not UTF-8.
    private struct ForeignEntry: Hashable {
        let folder: [String]
        let name: [UInt8]
    }

    // The thread's own.
    private var folder: RecordingFolder?
    private var watch: FolderWatch?
    private var walk: FolderWalk?
    private var newFolders: [[String]] = []
    private var isFullWalk = false
    private var seen = NumberSet()
    /// Where the search for files that are gone is; nil if none is due.
    private var sweep: UInt64?
    private var changed: Set<[String]> = []
    private var changedForeigners: Set<ForeignEntry> = []
    private var needsWalk = false
    private var walkBegan = Instant.now
    /// When the folder is read again, if its changes are not reported or some of it could not be read.
    private var nextWalk: Instant?
    private var nextRetry = Instant.now

    /// Entries of folders and numbers of files that are looked at before requests are served again.
    private static let (entries, files) = (1000, 64)
    /// How long files are examined before requests are served again.
    private static let turn = Duration.milliseconds(50)
    /// How long until what could not be read is tried again, and the most files of it at a time.
    private static let (pause, mostRetries) = (Duration.seconds(10), 256)
    /// How long the file of the index may be in use before the index is kept in memory, and the time between two tries.
    private static let (handover, handoverPause) = (Duration.seconds(3), Duration.milliseconds(50))
    /// How long the thread rests if nothing can wake it, in milliseconds.
    private static let blindTimeout: Int32 = 1000
    /// More changes than this are found by reading the folder.
    private static let mostChanges = 10_000

    init(_ place: RecordingsPlace, _ index: RecordingIndex) {
        (self.place, self.index, wakeUp) = (place, index, try? EventFD())
    }

    /// The open folder; nil if it cannot be opened.
    var openFolder: RecordingFolder? { monitor.withLock { currentFolder } }

    /// The path of the open folder from the root; nil if it cannot be opened. Known without waiting for the disk.
    var root: String? { monitor.withLock { currentRoot } }

    /// Starts the thread, unless it runs.
    func start() {
        monitor.withLock {
            guard !hasThread, !isStopped, let thread = WorkerThread(body: { [self] in run() }) else { return }
            thread.detach()
            hasThread = true
        }
    }

    /// Ends the thread.
    func stop() {
        monitor.withLock {
            isStopped = true
            monitor.signal()
        }
        wakeUp?.wake()
    }

    /// Waits until the index has all changes so far, and the times of what may have been recorded after a time.
    /// - Returns: whether that is so, and not only the deadline over.
    func catchUp(after time: WallTime, until deadline: Instant) -> (isComplete: Bool, state: State) {
        start()
        let number = monitor.withLock {
            requestCount += 1
            return requestCount
        }
        wakeUp?.wake()
        while true {
            let (turn, isServed, now) = monitor.withLock { (turnCount, servedCount >= number, state) }
            if isServed, now.isListed, !now.hasFolder || !index.awaits(after: time) { return (true, now) }
            let isOver = monitor.withLock {
                while turnCount == turn, !isStopped, Instant.now < deadline { monitor.wait(until: deadline) }
                return isStopped || Instant.now >= deadline
            }
            if isOver { return (false, now) }
        }
    }

    // MARK: The thread

    /// Opens the index. An earlier catalog of the place, whose thread is about to end, may still hold the lock of the file.
    /// - Returns: false if the thread is to end.
    private func openIndex() -> Bool {
        let deadline = Instant.now + Self.handover
        while !index.open(waits: Instant.now < deadline) {
            let retry = Instant.now + Self.handoverPause
            let isOver = monitor.withLock {
                while !isStopped, Instant.now < retry { monitor.wait(until: retry) }
                return isStopped
            }
            if isOver { return false }
        }
        return true
    }

    private func run() {
        guard openIndex() else { return }
        while true {
            wakeUp?.sleep()
            let (isOver, requested) = monitor.withLock { (isStopped, requestCount) }
            guard !isOver else { return }
            if index.isBroken {
                monitor.withLock { state.isListed = false }
                index.recover()
                needsWalk = true
            }
            let wasBroken = index.isBroken
            let hasMore = work(isRequested: requested > monitor.withLock { servedCount })
            monitor.withLock {
                servedCount = requested
                turnCount += 1
                monitor.signal()
            }
            // One that has just broken is recovered at once.
            if !hasMore, wasBroken || !index.isBroken { rest() }
        }
    }

    private func rest() {
        let hasTrouble = index.isBroken || index.hasUnreadable
        let due = [nextWalk, hasTrouble ? nextRetry : nil].compactMap(\.self).min()
        let timeout = due.map { Int32(clamping: max(0, ($0 - .now).inNanoseconds / 1_000_000 + 1)) }
        var descriptors = [wakeUp?.descriptor, watch?.descriptor].compactMap(\.self).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&descriptors, nfds_t(descriptors.count), timeout ?? (wakeUp == nil ? Self.blindTimeout : -1))
    }

    /// - Returns: whether there is more to do.
    private func work(isRequested: Bool) -> Bool {
        guard let folder = reopenedFolder() else {
            nextWalk = nil
            return false
        }
        index.begin()
        defer { index.commit() }
        readChanges(folder)
        if let due = nextWalk, due <= .now { (needsWalk, nextWalk) = (true, nil) }
        if isRequested { refresh(folder) }
        beginWalk(folder)
        if let walk { advance(walk) }
        if walk == nil, let sweep { removeMissing(after: sweep, in: folder) }
        if nextRetry <= .now {
            _ = index.retryUnreadable(most: Self.mostRetries)
            nextRetry = .now + Self.pause
        }
        let deadline = Instant.now + Self.turn
        var hasWaiting = true
        while hasWaiting, Instant.now < deadline {
            let waiting = index.waiting(most: Self.files)
            hasWaiting = !waiting.isEmpty && !index.isBroken
            for entry in waiting where Instant.now < deadline { examine(entry.id, entry.file, in: folder) }
        }
        let isListed =
            walk == nil && sweep == nil && !needsWalk && newFolders.isEmpty && changedForeigners.isEmpty
            && !index.isBroken
        monitor.withLock { state.isListed = isListed }
        return !index.isBroken && (hasWaiting || !isListed)
    }

    private func reopenedFolder() -> RecordingFolder? {
        if let folder, !folder.isGone { return folder }
        let opened: RecordingFolder?
        var reason: String?
        do throws(FileLocation.Failure) { opened = try RecordingFolder(path: place.folder) } catch {
            (opened, reason) = (nil, RecordingProblem.reason(error.errno))
        }
        (folder, walk, sweep, changed, newFolders) = (opened, nil, nil, [], [])
        changedForeigners = []
        watch = FolderWatch()
        needsWalk = true
        if let opened { index.setDevice(FileIdentity(descriptor: opened.descriptor)?.device ?? 0) }
        let root = opened.flatMap { _ in Folder.absolute(place.folder) }
        monitor.withLock {
            (currentFolder, currentRoot, state) = (opened, root, State())
            guard let reason else { return }
            (state.isListed, state.hasFolder) = (true, false)
            state.problems = [RecordingProblem(name: place.folder, reason: reason)]
        }
        return opened
    }

    // MARK: Changes

    private func readChanges(_ folder: RecordingFolder) {
        watch?.read { change in
            switch change {
            case .entry(let path): changed.insert(path)
            case .foreignEntry(let path, let name):
                changedForeigners.insert(ForeignEntry(folder: path, name: name))
            case .overflow: needsWalk = true
            }
        }
        if changed.count + changedForeigners.count > Self.mostChanges {
            (changed, changedForeigners, needsWalk) = ([], [], true)
        }
        for path in changed { look(at: path, in: folder) }
        changed.removeAll()
        // The end of a reading replaces the problems, perhaps with older ones.
        guard walk == nil else { return }
        for entry in changedForeigners { look(at: entry, in: folder) }
        changedForeigners.removeAll()
    }

    private func look(at entry: ForeignEntry, in folder: RecordingFolder) {
        var problem: RecordingProblem?
        if let status = try? folder.status(of: entry.name, in: entry.folder),
            [S_IFDIR, S_IFREG].contains(status.st_mode & S_IFMT)
        {
            problem = RecordingProblem(
                foreignName: entry.name, in: entry.folder, isFolder: status.st_mode & S_IFMT == S_IFDIR,
                of: place)
        }
        let name = RecordingProblem.text(ofForeignName: entry.name, in: entry.folder)
        replaceProblems(at: name, with: problem.map { [$0] } ?? [])
    }

    /// Replaces what was found about an entry and, if it is a folder, about all below it.
    private func replaceProblems(at name: String, with problems: [RecordingProblem]) {
        let wasFull = monitor.withLock {
            let wasFull = state.problems.count >= FolderWalk.mostProblems
            state.problems.removeAll { $0.name == name || $0.name.hasPrefix(name + "/") }
            let hasRoom = state.problems.count < FolderWalk.mostProblems
            state.problems = Array((state.problems + problems).prefix(FolderWalk.mostProblems))
            return wasFull && hasRoom && problems.isEmpty
        }
        // There may be others, which only reading finds.
        if wasFull, nextWalk == nil { nextWalk = .now + Self.pause }
    }

    private func look(at path: [String], in folder: RecordingFolder) {
        guard path.last?.hasPrefix(".") == false else { return }
        let status: stat
        do throws(FileLocation.Failure) { status = try folder.status(of: path) } catch {
            guard error.isAbsence else { return needsWalk = true }
            let name = path.joined(separator: "/")
            index.remove(name)
            return replaceProblems(at: name, with: [])
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR where path.count <= place.depth: newFolders.append(path)
        case S_IFREG:
            let file = RecordingFile(path: path, status)
            if place.covers(file.name) { enter(file) }
        default: index.remove(path.joined(separator: "/"))
        }
    }

    private func enter(_ file: RecordingFile) {
        if let id = index.enter(file) { seen.insert(id) }
    }

    // MARK: Reading the folder

    private func beginWalk(_ folder: RecordingFolder) {
        guard walk == nil else { return }
        if needsWalk {
            (needsWalk, isFullWalk, sweep, newFolders) = (false, true, nil, [])
            seen = NumberSet()
            walkBegan = .now
            walk = FolderWalk(folder, place, watch)
            monitor.withLock { state.foundCount = 0 }
        } else if let path = newFolders.popLast() {
            walk = FolderWalk(folder, place, from: path, watch)
        }
    }

    private func advance(_ walk: FolderWalk) {
        var count = 0
        let deadline = Instant.now + Self.turn
        var hasMore = true
        // Finding the newest names takes long in a large folder.
        while hasMore, count == 0, Instant.now < deadline {
            hasMore = walk.step(entries: Self.entries) { file in
                enter(file)
                count += 1
            }
        }
        monitor.withLock {
            state.foundCount += count
            if !hasMore, isFullWalk { state.problems = walk.problems }
        }
        guard !hasMore else { return }
        if !isFullWalk, !walk.problems.isEmpty {
            replaceProblems(at: walk.path.joined(separator: "/"), with: walk.problems)
        }
        self.walk = nil
        let isBlind = watch?.isBlind ?? true
        if isBlind || walk.isIncomplete {
            // Reading takes at most a twentieth of the time.
            nextWalk = .now + max(Self.pause, (Instant.now - walkBegan) * 20)
        }
        if isFullWalk { (isFullWalk, sweep) = (false, 0) }
    }

    /// Removes files from the index that the reading of the folder did not find.
    private func removeMissing(after id: UInt64, in folder: RecordingFolder) {
        let numbers = index.numbers(after: id, most: Self.entries)
        for number in numbers where !seen.contains(number) {
            guard let entry = index[number] else { continue }
            do throws(FileLocation.Failure) {
                let status = try folder.status(of: entry.file.path)
                if FileIdentity(status) != entry.file.identity {
                    enter(RecordingFile(path: entry.file.path, status))
                }
            } catch {
                // A folder that cannot be read now is not empty.
                if error.isAbsence { index.remove(entry.file.name) }
            }
        }
        sweep = numbers.last
        if sweep == nil { seen = NumberSet() }
    }

    // MARK: Examining files

    /// Looks again at files that are being written.
    private func refresh(_ folder: RecordingFolder) {
        for entry in index.unfinished(most: Self.files) {
            do throws(FileLocation.Failure) {
                let file = RecordingFile(path: entry.file.path, try folder.status(of: entry.file.path))
                let isSame = file == entry.file
                if !isSame { enter(file) }
                guard file.identity == entry.file.identity else { continue }
                if entry.state == .growing {
                    // The end moves on with each write, and its recorder may be gone without one.
                    examine(entry.id, file, in: folder)
                } else if isSame, !isFresh(file) {
                    index.finish(entry.id)
                }
            } catch {
                if error.isAbsence { index.remove(entry.file.name) }
            }
        }
    }

    /// Whether a file may still grow although no recorder holds its lock, so that its end is not reported.
    private func isFresh(_ file: RecordingFile) -> Bool {
        let age = WallTime.now - file.modification
        return age >= .zero && age < Self.pause
    }

    private func examine(_ id: UInt64, _ file: RecordingFile, in folder: RecordingFolder) {
        let recording: OpenRecording
        do throws(FileLocation.Failure) { recording = try file.open(in: folder) } catch {
            if error.isAbsence { return index.remove(file.name) }
            let problem = InputError(.notOpened(errno: error.errno), input: file.name)
            return index.set(.unreadable, "\(problem)", of: id)
        }
        do throws(RecordingProbe.Failure) {
            let probe = try RecordingProbe(file, open: recording)
            index.set(probe, isFresh: isFresh(file), of: id)
        } catch {
            if recording.isGrowing {
                // A recorder has just begun the file.
                index.set(.growing, nil, of: id)
            } else {
                let state: RecordingIndex.State =
                    isFresh(file) ? .fresh : error.isTransient ? .unreadable : .unusable
                index.set(state, error.reason, of: id)
            }
        }
    }
}

// MARK: Sets of numbers

/// A set of numbers that lie close together, a bit for each. Numbers far from the first one, as a damaged index may have
/// them, are not kept: a file that was not seen is only looked at once more.
struct NumberSet {
    private var first: UInt64 = 0
    private var words: [UInt64] = []

    /// 16 MB.
    private static let mostWords: UInt64 = 1 << 21

    mutating func insert(_ number: UInt64) {
        if words.isEmpty { first = number & ~63 }
        if number < first {
            let missing = (first - (number & ~63)) / 64
            guard missing + UInt64(words.count) <= Self.mostWords else { return }
            words.insert(contentsOf: repeatElement(0, count: Int(missing)), at: 0)
            first = number & ~63
        }
        guard (number - first) / 64 < Self.mostWords else { return }
        let place = Int((number - first) / 64)
        if place >= words.count { words.append(contentsOf: repeatElement(0, count: place + 1 - words.count)) }
        words[place] |= 1 << (number & 63)
    }

    func contains(_ number: UInt64) -> Bool {
        guard number >= first, (number - first) / 64 < UInt64(words.count) else { return false }
        return words[Int((number - first) / 64)] & (1 << (number & 63)) != 0
    }
}
