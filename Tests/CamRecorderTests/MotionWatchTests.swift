import CamPlatform
import CamPictures
import TestSupport
import Testing

@testable import Encoder
@testable import CamRecorder
import CamStorage
import Containers
@testable import CamConversion

/// Motion triggers the rings of a recording, and is in its report.
@Suite struct MotionWatchTests {
    /// Cells of one pixel.
    private static let size = PictureSize(96, 60)!

    /// A textured place, with something in it that is ten cells wide.
    private static func draw(_ place: Int?, in thumbnail: LumaThumbnail, texture: Int = 1) {
        let layout = thumbnail.layout
        for cell in 0..<layout.count {
            let (column, row) = (cell % layout.columns, cell / layout.columns)
            let isThing = place.map { ($0..<$0 + 10).contains(column) && (20..<40).contains(row) } ?? false
            let level = isThing ? 200 : 60 + (column / 7 * 31 + row / 5 * 17 * texture) % 60
            thumbnail.cells[cell] = UInt16(level * LumaThumbnail.stepsPerLevel)
        }
    }

    /// The cells of a walk through the picture from picture `first` on; nil before and after.
    private static func walk(_ number: Int, from first: Int) -> Int? {
        let place = (number - first) * 3
        return (0...86).contains(place) ? place : nil
    }

    @Test("triggers from when something moves until it stops, and notes when and where")
    func triggers() throws {
        let pictures = try Pictures(size: Self.size)
        let control = RecordingControl()
        let watch = MotionWatch(MotionPlan(), control: control)
        let thumbnail = LumaThumbnail(LumaThumbnail.Layout(of: Self.size))
        var triggered: [Int] = []
        for number in 0..<120 {
            Self.draw(Self.walk(number, from: 30), in: thumbnail)
            let count = control.triggerCount
            watch.take(thumbnail, of: pictures.picture(number))
            watch.look()
            if control.triggerCount > count { triggered.append(number) }
        }
        // It is in the picture from number 30 to 58.
        let (first, last) = (try #require(triggered.first), try #require(triggered.last))
        #expect((31...40).contains(first) && (55...60).contains(last))
        let content = watch.log.content
        #expect(content.count == 1 && !content.isMoving && content.start == .start)
        let event = try #require(content.events.first)
        #expect((2.8...3.5).contains((event.start - .start).inSeconds))
        #expect((5.4...6.0).contains((event.end - .start).inSeconds))
        // The box has up to a neighbourhood around the thing.
        #expect((10...20).contains(event.place.y) && (40...50).contains(event.place.y + event.place.height))
    }

    @Test("holds an event's file from the trigger until nothing has moved for two seconds")
    func holds() throws {
        let pictures = try Pictures(size: Self.size)
        let control = RecordingControl()
        let watch = MotionWatch(MotionPlan(), control: control)
        let thumbnail = LumaThumbnail(LumaThumbnail.Layout(of: Self.size))
        var events: [LastingEvent] = []
        for number in 0..<240 {
            Self.draw(Self.walk(number, from: number < 120 ? 30 : 150), in: thumbnail)
            watch.take(thumbnail, of: pictures.picture(number))
            watch.look()
            let event = control.latestTrigger?.event
            if let event, event !== events.last { events.append(event) }
            let lasts = event?.lasts(beyond: .start + .milliseconds(100) * number) ?? false
            #expect(lasts == watch.log.content.isMoving)
        }
        // A writer that lags behind still knows how long each event lasted.
        #expect(events.count == 2)
        #expect(events.map { $0.lasts(beyond: .start + .seconds(6)) } == [true, true])
        #expect(events.map { $0.lasts(beyond: .start + .seconds(9)) } == [false, true])
        #expect(events.map { $0.lasts(beyond: .start + .seconds(21)) } == [false, false])
    }

    @Test("does not trigger when the camera was away, and ends the event", arguments: [true, false])
    func unplugged(changesFormat: Bool) throws {
        let (pictures, others) = (try Pictures(size: Self.size), try Pictures(size: PictureSize(80, 50)!))
        let control = RecordingControl()
        let watch = MotionWatch(MotionPlan(), control: control)
        let thumbnail = LumaThumbnail(LumaThumbnail.Layout(of: Self.size))
        let other = changesFormat ? LumaThumbnail(LumaThumbnail.Layout(of: PictureSize(80, 50)!)) : thumbnail
        for number in 0..<45 {
            Self.draw(Self.walk(number, from: 30), in: thumbnail)
            watch.take(thumbnail, of: pictures.picture(number))
            watch.look()
        }
        let count = control.triggerCount
        #expect(count > 0 && watch.log.content.isMoving)
        for number in 46..<100 {
            Self.draw(nil, in: other, texture: 3)
            var picture = (changesFormat ? others : pictures).picture(number)
            picture.run = 1
            watch.take(other, of: picture)
            #expect(!watch.log.content.isMoving)
            watch.look()
        }
        #expect(control.triggerCount == count)
        #expect(watch.log.content.count == 1 && !watch.log.content.isMoving)
    }

    @Test("where only a part of the picture is recorded, it says where in the whole one something moved")
    func part() throws {
        let whole = try #require(PictureSize(Self.size.width + 200, Self.size.height + 100))
        let (pictures, crop) = (try Pictures(size: whole), CropRectangle(Self.size, x: 120, y: 80))
        let watch = MotionWatch(MotionPlan(crop: crop), control: RecordingControl())
        let thumbnail = LumaThumbnail(LumaThumbnail.Layout(of: Self.size))
        for number in 0..<120 {
            Self.draw(Self.walk(number, from: 30), in: thumbnail)
            watch.take(thumbnail, of: pictures.picture(number))
            watch.look()
        }
        let place = try #require(watch.log.content.events.first).place
        #expect((90...100).contains(place.y) && (120...130).contains(place.y + place.height))
        #expect(place.x >= 120 && place.x + place.width <= 120 + Self.size.width)
    }

    @Test("looks at ten pictures a second, however many come")
    func pace() throws {
        let pictures = try Pictures(size: Self.size)
        let watch = MotionWatch(MotionPlan(), control: RecordingControl())
        let thumbnail = LumaThumbnail(LumaThumbnail.Layout(of: Self.size))
        // Ten times as many as the numbers say: only each tenth is new enough.
        for number in 0..<60 {
            for repeated in 0..<10 {
                Self.draw(repeated == 0 ? Self.walk(number, from: 20) : repeated * 8, in: thumbnail)
                watch.take(thumbnail, of: pictures.picture(number))
                watch.look()
            }
        }
        #expect(watch.log.content.events.count == 1)
    }

    @Test("keeps the latest events, and counts all")
    func log() {
        let log = MotionLog()
        for number in 0..<MotionLog.mostEvents + 5 {
            let event = Self.event(at: number)
            log.note(event)
            log.note(event)
            log.end(event)
        }
        log.note(Self.event(at: 7))
        let content = log.content
        #expect(content.count == MotionLog.mostEvents + 6 && content.isMoving)
        #expect(content.events.count == MotionLog.mostEvents + 1)
        #expect(content.events.first == Self.event(at: 5) && content.events.last == Self.event(at: 7))
    }

    private static func event(at seconds: Int) -> MotionEvent {
        let time = Instant.start + .seconds(seconds)
        return MotionEvent(
            start: time, end: time, peak: 0.1, peakTime: time, place: .init(x: 0, y: 0, width: 1, height: 1))
    }

    @Test("a recording writes what moved, with the time before and after it, and nothing else")
    func recording() throws {
        let folder = TemporaryFolder()
        let plan = SegmentPlan(
            names: FileNamePattern(folder.path + "/event.h264", expandsTime: true), length: nil)
        let sink = try SegmentRecorder(
            plan, stream: StreamDescription(codec: .h264, width: 96, height: 60, frameRate: nil),
            open: { (path, _) throws(OutputError) in
                try FileSink(path: path, overwrite: false, cancellation: CancellationFlag()!)
            })
        let encoder = ScriptedEncoder()
        encoder.thumbnail = LumaThumbnail(LumaThumbnail.Layout(of: Self.size))
        encoder.onPrepare = { number in
            if let thumbnail = encoder.thumbnail { Self.draw(Self.walk(number, from: 50), in: thumbnail) }
        }
        let stream = try ScriptedStream(
            [.pictures(200)], isLive: false, pictures: try Pictures(size: Self.size))
        let recording = try Recording(
            from: Capturing(RecordingSource(stream)),
            session: try CompressionSession([ScriptedProvider([encoder], keyframeInterval: .frames(5))]),
            to: [OutputPlan(sink, ring: EventRing.Plan(before: .seconds(1), after: .seconds(2)))],
            limits: RecordingLimits(), motion: MotionPlan())
        let outcome = recording.finish()
        #expect(outcome.errors.isEmpty && outcome.outputs[0].segments?.count == 1)
        let event = try #require(recording.motion?.content.events.first)
        #expect(recording.motion?.content.count == 1)
        // A second before the trigger, which comes with one of the first pictures of the walk, and until the IDR two
        // seconds after its last move, in picture 78.
        let written = recording.outputs[0].counters[.written]
        #expect((50...60).contains(written))
        #expect((5.0...5.5).contains((event.start - .start).inSeconds))
    }
}
