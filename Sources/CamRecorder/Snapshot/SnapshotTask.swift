import CamConversion
import CamPictures
import CamPlatform
import Encoder

/// Takes one snapshot of a running recording, on its own thread: waits for a picture, makes a file of it, and
/// sends the file.
final class SnapshotTask: FileTask {
    private let stills: StillRequest
    private let format: Snapshot.Format
    private let camera: String
    /// Whether capture times use this machine's clock.
    private let isLive: Bool
    private let isUTC: Bool
    private let program: String
    private let permit: TaskLimit.Permit?

    /// How long to wait for an intact picture.
    static let patience = Duration.seconds(5)
    /// Damaged pictures to look at.
    private static let mostTries = 10

    /// - Parameters:
    ///   - camera: the camera's name, for the metadata.
    ///   - isLive: whether capture times use this machine's clock.
    ///   - isUTC: whether times in the file are UTC instead of local time.
    ///   - program: for the file's metadata.
    ///   - permit: held as long as the task exists.
    init(
        _ stills: StillRequest, _ format: Snapshot.Format, camera: String, isLive: Bool = true,
        isUTC: Bool = false, program: String, permit: TaskLimit.Permit? = nil
    ) {
        (self.stills, self.format, self.camera, self.program) = (stills, format, camera, program)
        self.permit = permit
        (self.isLive, self.isUTC) = (isLive, isUTC)
    }

    func makeFile() throws(ControlRefusal) -> [UInt8] { try take().bytes }

    /// Takes the picture.
    func take() throws(ControlRefusal) -> Snapshot {
        let deadline = Instant.now + Self.patience
        var damage = ConversionError?.none
        for _ in 0..<Self.mostTries {
            guard let still = stills.take(until: deadline) else { break }
            do throws(ConversionError) {
                let form = Snapshot.Form(format, isUTC: isUTC, program: program)
                let maker = try SnapshotMaker(still.picture.format, form, camera: camera)
                _ = try maker.take(still.picture)
                return try file(of: still, maker)
            } catch { damage = error }
        }
        throw ControlRefusal(
            reason: damage.map { "\($0)" }
                ?? "no picture came; the recording has ended, or its camera is away")
    }

    private func file(of still: borrowing StillRequest.Still, _ maker: SnapshotMaker) throws(ConversionError)
        -> Snapshot
    {
        let clock = SystemTime()
        do throws(ImageError) {
            return try maker.make(
                of: still.picture,
                time: isLive ? clock.wallTime(at: still.picture.timestamp) : clock.wallTime,
                exposure: still.exposure)
        } catch { throw .corrupt(error.description) }
    }
}

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

    /// Begins a snapshot.
    /// - Returns: nil while another snapshot is being taken.
    func begin(_ format: Snapshot.Format) -> SnapshotTask? {
        guard let permit = limit.permit() else { return nil }
        return SnapshotTask(
            stills, format, camera: camera, isLive: isLive, isUTC: isUTC, program: program, permit: permit)
    }
}
