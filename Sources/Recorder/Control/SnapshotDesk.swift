import Synchronization
import Time

/// Takes snapshots of a running recording, one at a time.
final class SnapshotDesk: Sendable {
    private let stills: StillRequest
    private let camera: String
    private let isLive: Bool
    private let isUTC: Bool
    private let isBusy = Atomic<Bool>(false)

    /// - Parameter isUTC: whether times in files are UTC instead of local time.
    init(_ recording: Recording, isUTC: Bool) {
        self.isUTC = isUTC
        (stills, camera) = (recording.stills, recording.source.identity.name)
        isLive = recording.isLive
    }

    /// Begins one.
    /// - Returns: nil while another is being taken.
    func begin(_ format: Snapshot.Format) -> SnapshotTask? {
        guard !isBusy.exchange(true, ordering: .acquiring) else { return nil }
        return SnapshotTask(stills, format, camera: camera, isLive: isLive, isUTC: isUTC) { [self] in
            isBusy.store(false, ordering: .releasing)
        }
    }
}
