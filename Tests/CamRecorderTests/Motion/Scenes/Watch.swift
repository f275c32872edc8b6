import CamRecorder
import CamPictures
import CamPlatform

/// A detector that watches a scene.
struct Watch {
    /// From when to when it saw motion, in seconds.
    private(set) var events: [(start: Double, end: Double, event: MotionEvent)] = []
    /// When it first said so.
    private(set) var triggers: [Double] = []
    /// All times at which it said so.
    private(set) var moments: [Double] = []
    private let detector: MotionDetector
    private let picture: LumaThumbnail
    private var isMoving = false

    init(_ size: PictureSize, sensitivity: MotionSensitivity = .usual, mask: MotionMask? = nil) {
        detector = MotionDetector(WatchedPart(size), sensitivity: sensitivity, mask: mask)
        picture = LumaThumbnail(LumaThumbnail.Layout(of: size))
    }

    /// Watches it for some time, in seconds.
    mutating func see(
        _ scene: inout Scene, _ times: Range<Double>, picturesPerSecond: Double = 10
    ) {
        for number in 0..<Int((times.upperBound - times.lowerBound) * picturesPerSecond) {
            let time = times.lowerBound + Double(number) / picturesPerSecond
            scene.draw(at: time, into: picture)
            look(at: picture, time)
        }
    }

    /// Watches one picture.
    mutating func look(at picture: LumaThumbnail, _ time: Double) {
        note(detector.look(at: picture, time: Self.instant(time)), time)
    }

    private mutating func note(_ finding: MotionDetector.Finding, _ time: Double) {
        switch finding {
        case .still: isMoving = false
        case .moving:
            if !isMoving { triggers.append(time) }
            isMoving = true
            moments.append(time)
        case .ended(let event):
            isMoving = false
            events.append((Self.seconds(event.start), Self.seconds(event.end), event))
        }
    }

    /// Another picture follows that does not continue this one's.
    @discardableResult mutating func restart() -> MotionEvent? { detector.restart() }

    /// The scene's beginning on the capture clock, in seconds.
    static let beginning = 1.0

    private static func instant(_ seconds: Double) -> Instant {
        .start + .nanoseconds(Int64((seconds + beginning) * 1e9))
    }
    private static func seconds(_ time: Instant) -> Double { (time - .start).inSeconds - beginning }
}
