import Synchronization
import Time

/// Takes snapshots of a running recording, one at a time.
final class SnapshotDesk: Sendable {
    private let stills: StillRequest
    private let camera: String
    private let isLive: Bool
    private let isBusy = Atomic<Bool>(false)

    init(_ recording: Recording) {
        (stills, camera) = (recording.stills, recording.source.identity.name)
        isLive = recording.isLive
    }

    /// Begins one.
    /// - Returns: nil while another is being taken.
    func begin(_ format: Snapshot.Format) -> SnapshotTask? {
        guard !isBusy.exchange(true, ordering: .acquiring) else { return nil }
        return SnapshotTask(stills, format, camera: camera, isLive: isLive) { [self] in
            isBusy.store(false, ordering: .releasing)
        }
    }
}
