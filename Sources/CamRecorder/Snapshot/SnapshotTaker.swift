import Capture
import Encoder
import CamConversion
import CamPictures
import CamPlatform

/// Takes one picture from a source, once a camera's exposure has settled.
///
/// Damaged pictures are skipped.
public struct SnapshotTaker {
    private let form: Snapshot.Form
    private let clock: any TimeSource
    private var settling: ExposureSettling
    private var maker: SnapshotMaker?
    /// Damaged pictures since the last good one.
    private var damagedCount = 0
    /// The pictures looked at, and what the last of them said about the exposure.
    public private(set) var pictureCount = 0
    /// What the last picture said about the exposure.
    public private(set) var verdict = ExposureSettling.Verdict.settling

    /// A camera that sends only such pictures for ten seconds at 30 frames a second will not recover.
    static let mostDamaged = 300

    /// - Parameter settle: how long a camera's exposure may take, from its first picture on; zero to take that one.
    public init(_ form: Snapshot.Form, settle: Duration, clock: any TimeSource = SystemTime()) {
        (self.form, self.clock) = (form, clock)
        settling = ExposureSettling(bound: settle)
    }

    /// Takes a picture from a stream that has started, and stops it.
    public mutating func take(from stream: any CaptureStream) throws(SnapshotError) -> Snapshot {
        // A test picture or a file has nothing that settles.
        if !stream.takesTimeToStart { settling = ExposureSettling(bound: .zero) }
        defer { stream.stop() }
        while true {
            let next: NextBuffer
            do throws(CaptureError) { next = try stream.nextBuffer() } catch { throw .capture(error) }
            switch consume next {
            case .end: throw .noPicture(device: stream.identity.device)
            case .interrupted: throw .noPicture(device: stream.identity.device)
            case .buffer(let picture):
                guard try isWanted(picture, of: stream) else { continue }
                return try file(of: picture, from: stream)
            }
        }
    }

    /// Looks at a picture, and returns whether it is the one.
    private mutating func isWanted(
        _ picture: borrowing PixelBuffer, of stream: any CaptureStream
    ) throws(SnapshotError) -> Bool {
        do throws(ConversionError) {
            let luma = try maker(for: picture.format, of: stream).take(picture)
            damagedCount = 0
            pictureCount += 1
            verdict = settling.judge(luma: luma, at: picture.timestamp)
            return verdict != .settling
        } catch {
            let device = stream.identity.device
            guard error.concernsOneFrame else { throw .conversion(error, device: device) }
            damagedCount += 1
            guard damagedCount < Self.mostDamaged else {
                throw .allDamaged(count: damagedCount, last: error, device: device)
            }
            return false
        }
    }

    private mutating func maker(
        for format: PictureFormat, of stream: any CaptureStream
    ) throws(ConversionError) -> SnapshotMaker {
        if let maker, maker.format === format { return maker }
        let maker = try SnapshotMaker(format, form, camera: stream.identity.name)
        self.maker = maker
        return maker
    }

    private func file(
        of picture: borrowing PixelBuffer, from stream: any CaptureStream
    ) throws(SnapshotError) -> Snapshot {
        guard let maker else { throw .noPicture(device: stream.identity.device) }
        // A file's times are on no clock of this machine.
        let time = stream.isLive ? clock.wallTime(at: picture.timestamp) : clock.wallTime
        do throws(ImageError) {
            return try maker.make(of: picture, time: time, exposure: stream.exposure)
        } catch { throw .image(error) }
    }
}
