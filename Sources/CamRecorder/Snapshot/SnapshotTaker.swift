import CamConversion
import CamPictures
import CamPlatform
import Capture
import Encoder

/// Takes one picture from a source, once a camera's exposure has settled.
///
/// Damaged pictures are skipped.
package struct SnapshotTaker {
    private let form: Snapshot.Form
    private let clock: any TimeSource
    private var settling: ExposureSettling
    private var maker: SnapshotMaker?
    /// Damaged pictures since the last good one.
    private var damagedCount = 0
    /// The number of intact pictures so far.
    package private(set) var pictureCount = 0
    /// The judgment of the exposure in the latest picture.
    package private(set) var verdict = ExposureSettling.Verdict.settling

    /// A camera that sends only damaged pictures for ten seconds at 30 frames per second will not recover.
    static let mostDamaged = 300

    /// - Parameter settle: how long a camera's exposure may take, from the first picture; zero to take the
    ///   first picture.
    package init(_ form: Snapshot.Form, settle: Duration, clock: any TimeSource = SystemTime()) {
        (self.form, self.clock) = (form, clock)
        settling = ExposureSettling(bound: settle)
    }

    /// Takes a picture from a stream that has started, and stops it.
    package mutating func take(from stream: any CaptureStream) throws(SnapshotError) -> Snapshot {
        // Test pictures and files have no exposure to settle.
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

    /// Judges a picture, and returns whether to use it.
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

// MARK: When the exposure has settled

/// Decides from the brightness of a camera's pictures when its automatic exposure has settled.
///
/// It compares the means of three windows of six pictures each. Lights that flicker at twice the mains
/// frequency make the brightness swing with a period of two, three, five or six pictures, which a window
/// averages out. A slower swing, such as of an exposure that hunts for its value, differs between at least
/// two of the three windows. If the first six pictures are equally bright, and neither dark nor dazzling, the
/// exposure has already settled.
package struct ExposureSettling {
    /// The judgment of the pictures so far.
    package enum Verdict: Sendable, Hashable {
        case settling
        case settled
        /// The brightness still changes, but the time is over.
        case timedOut
    }

    private let bound: Duration
    private var lumas: [Double] = []
    private var start: Instant?

    static let windowLength = 6
    static let windowCount = 3
    /// Levels of 255: noise moves a picture's mean by much less, and nobody sees the difference.
    static let tolerance = 1.5
    /// Even a hunting exposure, at the turn of its swing, changes more within six pictures.
    static let sameness = 0.25
    /// Cameras send some dark or green pictures before their sensor works. At a low rate, these may be all
    /// that came in time.
    static let fewest = 5
    /// The brightness that an automatic exposure aims at. Outside this range, the exposure may not have begun
    /// to adapt.
    static let wellExposed = 64.0...192

    /// - Parameter bound: the longest wait, from the first picture; zero to take the first picture.
    package init(bound: Duration) {
        self.bound = bound
        lumas.reserveCapacity(Self.windowLength * Self.windowCount)
    }

    /// Judges the next picture.
    /// - Parameters:
    ///   - luma: the picture's mean brightness, 0 to 255.
    ///   - time: the picture's capture time.
    package mutating func judge(luma: Double, at time: Instant) -> Verdict {
        guard bound > .zero else { return .settled }
        if lumas.count == Self.windowLength * Self.windowCount { lumas.removeFirst() }
        lumas.append(luma)
        let start = self.start ?? time
        self.start = start
        if isSteady || hadSettledBefore { return .settled }
        guard lumas.count >= Self.fewest, time - start >= bound else { return .settling }
        // At a low rate there are too few pictures for windows.
        return range <= Self.tolerance ? .settled : .timedOut
    }

    private var range: Double { (lumas.max() ?? 0) - (lumas.min() ?? 0) }

    /// Whether the first pictures show a settled exposure.
    private var hadSettledBefore: Bool {
        lumas.count == Self.windowLength && range <= Self.sameness
            && lumas.allSatisfy(Self.wellExposed.contains)
    }

    private var isSteady: Bool {
        guard lumas.count == Self.windowLength * Self.windowCount else { return false }
        var means: [Double] = []
        for first in stride(from: 0, to: lumas.count, by: Self.windowLength) {
            means.append(lumas[first..<first + Self.windowLength].reduce(0, +) / Double(Self.windowLength))
        }
        return (means.max() ?? 0) - (means.min() ?? 0) <= Self.tolerance
    }
}
