import CamPlatform

/// Reads a password file again and again, so that an edited file counts without a restart.
struct PasswordWatch: Sendable {
    typealias Reading = Result<PasswordFile, PasswordFile.Failure>

    private let path: String
    private var latest: Reading

    /// How often the file is read: a removed user is out within this time.
    static let interval = Duration.seconds(1)

    /// - Parameter passwords: what the file said at the start.
    init(_ path: String, _ passwords: PasswordFile) { (self.path, latest) = (path, .success(passwords)) }

    /// Reads the file.
    /// - Returns: what it says, or why it cannot be used; nil if that is as before.
    mutating func look() -> Reading? {
        let reading = Reading { () throws(PasswordFile.Failure) in try PasswordFile(path: path) }
        guard reading != latest else { return nil }
        latest = reading
        return reading
    }

    /// Looks until the cancellation, on a thread of its own: the disk may hang.
    /// - Parameter changed: called on that thread.
    /// - Returns: false if the system lacks threads.
    func start(until cancellation: CancellationFlag, changed: @escaping @Sendable (Reading) -> Void) -> Bool {
        let thread = WorkerThread { [self] in
            var watch = self
            while case .due = cancellation.wait(until: .now + Self.interval) {
                if let reading = watch.look() { changed(reading) }
            }
        }
        guard let thread else { return false }
        thread.detach()
        return true
    }
}
