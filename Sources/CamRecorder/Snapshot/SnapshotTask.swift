import CamConversion
import CamPictures
import CamPlatform
import Encoder

/// Takes one snapshot of a running recording, on its own thread: waits for a picture, makes a file of it, and
/// sends the file.
final class SnapshotTask: FileTask {
    private let stills: StillRequest
    private let form: Snapshot.Form
    private let camera: String
    /// Whether capture times use this machine's clock.
    private let isLive: Bool
    private let permit: TaskLimit.Permit?

    /// How long to wait for an intact picture.
    static let patience = Duration.seconds(5)
    /// Damaged pictures to look at.
    private static let mostTries = 10

    /// - Parameters:
    ///   - camera: the camera's name, for the metadata.
    ///   - isLive: whether capture times use this machine's clock.
    ///   - permit: held as long as the task exists.
    init(
        _ stills: StillRequest, _ form: Snapshot.Form, camera: String, isLive: Bool = true,
        permit: TaskLimit.Permit? = nil
    ) {
        (self.stills, self.form, self.camera, self.isLive) = (stills, form, camera, isLive)
        self.permit = permit
    }

    func makeFile() throws(ControlRefusal) -> [UInt8] { try take().bytes }

    /// Takes the picture.
    func take() throws(ControlRefusal) -> Snapshot {
        let deadline = Instant.now + Self.patience
        var damage = ConversionError?.none
        for _ in 0..<Self.mostTries {
            guard let still = stills.take(until: deadline) else { break }
            do throws(ConversionError) {
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
struct SnapshotHandler: Sendable {
    private let stills: StillRequest
    private let demand: CameraDemand?
    private let camera: String
    private let isLive: Bool
    private let form: Snapshot.Form
    private let limit = TaskLimit(1)

    /// - Parameter form: how to write pictures; each command has a format of its own.
    init(_ recording: Recording, _ form: Snapshot.Form) {
        self.form = form
        (stills, camera) = (recording.stills, recording.source.identity.name)
        (isLive, demand) = (recording.isLive, recording.demand)
    }

    /// Begins a snapshot.
    /// - Returns: nil while another snapshot is being taken.
    func begin(_ format: Snapshot.Format) -> SnapshotTask? {
        guard let permit = limit.permit() else { return nil }
        demand?.wantPicture()
        var form = form
        form.format = format
        return SnapshotTask(stills, form, camera: camera, isLive: isLive, permit: permit)
    }
}
