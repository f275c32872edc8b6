import CamPictures
import CamPlatform
import Encoder
import Synchronization
import CamConversion

/// Watches a recording's pictures for motion, and triggers the rings during motion.
///
/// Belongs to the encode thread, which looks at a picture after passing it to the encoder. It looks at about
/// ten pictures a second; the others cost nothing.
final class MotionWatch {
    let log = MotionLog()
    private let plan: MotionPlan
    private let control: RecordingControl
    private var detector: MotionDetector?
    /// A copy, because the encoder reuses its own thumbnail for the next picture.
    private var picture: LumaThumbnail?
    /// The picture format and the source generation of the detector.
    private var format: PictureFormat?
    private var run = 0
    /// The capture time of the copy, until `look` has looked at it.
    private var pending: Instant?
    private var latest: Instant?
    /// The current event, for the rings.
    private var lasting: LastingEvent?
    /// The last movement that triggered.
    private var triggered: Instant?

    /// Cameras deliver 10 pictures a second, or a multiple, not quite evenly.
    private static let interval = Duration.milliseconds(90)

    init(_ plan: MotionPlan, control: RecordingControl) { (self.plan, self.control) = (plan, control) }

    /// Copies the picture's thumbnail if the picture is due. All encoders make the same thumbnail; the first
    /// is used.
    func take(_ thumbnail: LumaThumbnail, of buffer: borrowing PixelBuffer) {
        follow(buffer)
        let time = buffer.timestamp
        if let latest, time >= latest, time - latest < Self.interval { return }
        picture?.copy(thumbnail)
        (pending, latest) = (time, time)
        log.begin(at: time)
    }

    /// Looks at the copy, if there is one.
    func look() {
        guard let time = pending.take(), let detector, let picture else { return }
        switch detector.look(at: picture, time: time) {
        case .still: break
        case .moving(let event):
            log.note(event)
            if self.lasting == nil { control.noteMotion(nil) }
            let lasting = self.lasting ?? LastingEvent()
            self.lasting = lasting
            // The calm after a movement is part of the event, but a ring's time after the event counts from
            // the movement.
            guard event.end != triggered else { return }
            triggered = event.end
            control.trigger(EventTrigger(event: lasting))
        case .ended(let event): end(event, at: time)
        }
    }

    /// Ends the current event, because no picture follows.
    func finish() {
        if let event = detector?.restart() { end(event, at: latest ?? event.end) }
    }

    private func end(_ event: MotionEvent, at time: Instant) {
        log.end(event)
        control.noteMotion(event.end - event.start)
        lasting.take()?.end(at: time)
    }

    /// A camera that was away may show something else.
    private func follow(_ buffer: borrowing PixelBuffer) {
        if buffer.format !== format {
            finish()
            format = buffer.format
            let part = plan.part(of: buffer.format.size)
            detector = MotionDetector(
                part, black: buffer.format.blackLevel, sensitivity: plan.sensitivity, mask: plan.mask)
            picture = LumaThumbnail(LumaThumbnail.Layout(of: part.size))
            latest = nil
        } else if buffer.run != run {
            finish()
            latest = nil
        }
        run = buffer.run
    }
}

extension PictureFormat {
    /// The luma of black. For RGB it is 0.
    fileprivate var blackLevel: Int {
        if case .rgb = pixelFormat.arrangement { return 0 }
        return color.range == .limited ? 16 : 0
    }
}

/// How a recording watches for motion.
package struct MotionPlan: Sendable, Hashable {
    package let sensitivity: MotionSensitivity
    /// The parts to ignore; nil to watch everything.
    package let mask: MotionMask?
    /// The part of the camera's picture that is recorded; nil for all of it.
    package let crop: CropRectangle?

    /// Watches pictures with a sensitivity, except for the parts that a mask ignores.
    package init(
        sensitivity: MotionSensitivity = .usual, mask: MotionMask? = nil, crop: CropRectangle? = nil
    ) {
        (self.sensitivity, self.mask, self.crop) = (sensitivity, mask, crop)
    }

    /// The part of a camera's pictures that thumbnails show.
    func part(of whole: PictureSize) -> WatchedPart {
        crop.map { WatchedPart($0.size, x: $0.x, y: $0.y, of: whole) } ?? WatchedPart(whole)
    }
}

// MARK: What was seen

/// The motion detected in a recording. Safe to use from any thread.
package final class MotionLog: Sendable {
    private let state = Mutex(State())

    private struct State {
        var start: Instant?
        var current: MotionEvent?
        var latest: [MotionEvent] = []
        var count = 0
    }

    /// The log's content at one moment.
    package struct Content: Sendable {
        /// The capture time of the first picture; nil before that.
        package let start: Instant?
        /// The number of events, including the current one.
        package let count: Int
        /// The latest events, in order.
        package let events: [MotionEvent]
        /// Whether the last event still lasts.
        package let isMoving: Bool
    }

    /// Older events are counted, but not kept.
    package static let mostEvents = 1000

    init() {}

    /// The events so far.
    package var content: Content {
        state.withLock {
            Content(
                start: $0.start, count: $0.count, events: $0.latest + [$0.current].compactMap { $0 },
                isMoving: $0.current != nil)
        }
    }

    /// Records the time of the first picture.
    func begin(at time: Instant) { state.withLock { $0.start = $0.start ?? time } }

    /// Records an event that begins or continues.
    func note(_ event: MotionEvent) {
        state.withLock {
            if $0.current == nil { $0.count += 1 }
            $0.current = event
        }
    }

    /// Records an event that has ended.
    func end(_ event: MotionEvent) {
        state.withLock {
            $0.current = nil
            if $0.latest.count == Self.mostEvents { $0.latest.removeFirst() }
            $0.latest.append(event)
        }
    }
}
