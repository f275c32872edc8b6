import CamRecorder
import CamPlatform

/// The motion that a recording saw. Property names are JSON keys.
struct MotionResult: Encodable {
    /// How often something moved.
    let count: Int
    /// The latest 1000 times.
    let events: [Event]

    struct Event: Encodable {
        /// From the recording's first picture to the first and to the last in which it moved.
        let startSeconds: Double
        let endSeconds: Double
        /// To the one in which the most of the picture had changed.
        let peakSeconds: Double
        /// How much of the picture that was, 0 to 1.
        let peakShare: Double
        /// Where: the box around it, in the camera's pixels.
        let x: Int
        let y: Int
        let width: Int
        let height: Int

        init(_ event: MotionEvent, since start: Instant) {
            func seconds(_ time: Instant) -> Double { (time - start).inSeconds }
            (startSeconds, endSeconds) = (seconds(event.start), seconds(event.end))
            (peakSeconds, peakShare) = (seconds(event.peakTime), event.peak)
            (x, y) = (event.place.x, event.place.y)
            (width, height) = (event.place.width, event.place.height)
        }
    }

    init(_ content: MotionLog.Content) {
        count = content.count
        let start = content.start ?? .start
        events = content.events.map { Event($0, since: start) }
    }

    /// A line for people.
    var summary: String {
        guard let last = events.last else { return "motion: none" }
        return
            "motion: \(count == 1 ? "once" : "\(count) times"), last from \(decimal(last.startSeconds)) s to "
            + "\(decimal(last.endSeconds)) s at \(last.width)x\(last.height)+\(last.x)+\(last.y)"
    }
}
