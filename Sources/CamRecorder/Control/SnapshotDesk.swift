import CamPlatform

/// Takes snapshots of a running recording, one at a time.
struct SnapshotDesk: Sendable {
    private let stills: StillRequest
    private let camera: String
    private let isLive: Bool
    private let isUTC: Bool
    private let program: String
    private let limit = TaskLimit(1)

    /// - Parameters:
    ///   - isUTC: whether times in files are UTC instead of local time.
    ///   - program: for the files' metadata.
    init(_ recording: Recording, isUTC: Bool, program: String) {
        (self.isUTC, self.program) = (isUTC, program)
        (stills, camera) = (recording.stills, recording.source.identity.name)
        isLive = recording.isLive
    }

    /// Begins one.
    /// - Returns: nil while another is being taken.
    func begin(_ format: Snapshot.Format) -> SnapshotTask? {
        guard let permit = limit.permit() else { return nil }
        return SnapshotTask(
            stills, format, camera: camera, isLive: isLive, isUTC: isUTC, program: program, permit: permit)
    }
}
