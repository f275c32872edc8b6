import CTestAllocations
import CamConversion
import CamPictures
import TestSupport
import Testing
import CamPlatform

@testable import CamRecorder

/// What moves is seen, and what only looks as if it did is not. The thresholds were chosen with the seeds 1 to 8.
@Suite(.hangGuard) struct MotionDetectorTests {
    private static let size = PictureSize(80, 60)!
    private static let seeds: [UInt64] = [101, 102]

    @Test(
        "sees everything that crosses the picture, while it is there", arguments: Scene.Kind.all, seeds)
    func crossing(kind: Scene.Kind, seed: UInt64) throws {
        var (scene, times) = Scene.crossing(kind, Self.size, seed: seed)
        var watch = Watch(Self.size)
        // The slow ones are there for longer than it takes to see them.
        watch.see(&scene, 0..<min(times.upperBound + 4, 25))
        let first = try #require(watch.triggers.first)
        #expect(times.contains(first))
        #expect(
            watch.events.allSatisfy { times.lowerBound - 0.2 <= $0.start && $0.end <= times.upperBound + 1 })
    }

    @Test("says when something moved, and where it was largest")
    func event() throws {
        var (scene, times) = Scene.crossing(Scene.Kind.all[0], Self.size, seed: 104)
        var watch = Watch(Self.size)
        watch.see(&scene, 0..<times.upperBound + 4)
        let seen = try #require(watch.events.first)
        #expect(watch.events.count == 1)
        #expect(abs(seen.start - times.lowerBound) < 1 && abs(seen.end - times.upperBound) < 1)
        let mover = try #require(scene.movers.first)
        let peak = (seen.event.peakTime - .start).inSeconds - Watch.beginning
        let middle = mover.start + mover.velocity * Float(peak - times.lowerBound)
        let place = seen.event.place
        #expect((place.x...place.x + place.width).contains(Int(middle.x)))
        #expect((place.y...place.y + place.height).contains(Int(middle.y)))
        let share = Double(place.width * place.height) / Double(Self.size.area)
        #expect(seen.event.peak > 0 && seen.event.peak <= share)
    }

    @Test(
        "does not take noise, light or a camera's exposure for motion", arguments: Scene.Disturbance.allCases)
    func disturbance(_ disturbance: Scene.Disturbance) {
        for seed in Self.seeds {
            var scene = Scene.disturbed(by: disturbance, Self.size, seed: seed)
            var watch = Watch(Self.size)
            watch.see(&scene, 0..<30)
            #expect(watch.triggers.isEmpty, "\(disturbance), seed \(seed)")
        }
    }

    @Test("does not take the bands of pulsed light for motion, which now and then move as slowly as a thing")
    func bands() throws {
        let size = try #require(PictureSize(320, 240))
        var scene = Scene.disturbed(by: .pulsedLight, size, seed: 102)
        var watch = Watch(size)
        watch.see(&scene, 0..<50)
        #expect(watch.triggers.isEmpty)
    }

    @Test(
        "triggers at most twice in three hours of each disturbance",
        .enabled(if: allocations_can_be_counted(), "takes long in code that is not optimized"),
        arguments: [.strongNoise, .lightSteps, .lightStepsWithExposure, .exposureHunting]
            as [Scene.Disturbance])
    func hours(disturbance: Scene.Disturbance) {
        let size = PictureSize(64, 48)!
        var scene = Scene.disturbed(by: disturbance, size, seed: 105)
        var watch = Watch(size)
        watch.see(&scene, 0..<3 * 3600, picturesPerSecond: 4)
        #expect(watch.triggers.count <= 2)
    }

    @Test("never sees less with a higher sensitivity", arguments: [Scene.Kind.all[0], .all[4], .all[6]])
    func sensitivity(kind: Scene.Kind) throws {
        var (scene, times) = Scene.crossing(kind, Self.size, seed: 106)
        // Harder to see.
        scene.movers[0].upper = 0.3
        scene.movers[0].lower = 0.42
        var watches = try MotionSensitivity.levels.map { level in
            Watch(Self.size, sensitivity: try #require(MotionSensitivity(level)))
        }
        let picture = LumaThumbnail(scene.layout)
        for number in 0..<Int(times.upperBound * 10) {
            scene.draw(at: Double(number) / 10, into: picture)
            for level in watches.indices { watches[level].look(at: picture, Double(number) / 10) }
        }
        for (less, more) in zip(watches, watches.dropFirst()) {
            #expect(Set(less.moments).isSubset(of: more.moments))
        }
        // It makes a difference only for what is small.
        guard kind.description == Scene.Kind.all[4].description else { return }
        #expect(watches.first?.moments.count != watches.last?.moments.count)
    }

    @Test("ignores what is black in the mask, whatever the mask's size")
    func mask() throws {
        // The mover goes through the upper half.
        for (mask, isSeen) in [([0, 255] as [UInt8], false), ([255, 0], true)] {
            var (scene, times) = Scene.crossing(Scene.Kind.all[0], Self.size, seed: 107)
            scene.movers[0].start.y = 12
            let size = try #require(PictureSize(1, 2))
            let mask = MotionMask(try #require(GrayPicture(size: size, levels: mask)))
            var watch = Watch(Self.size, mask: mask)
            watch.see(&scene, 0..<times.upperBound + 3)
            #expect(watch.triggers.isEmpty == !isSeen)
        }
    }

    @Test("does not trigger when a camera returns with another picture", arguments: [true, false])
    func otherPicture(isTold: Bool) {
        var (first, second) = (Scene(Self.size, seed: 108), Scene(Self.size, seed: 109))
        var watch = Watch(Self.size)
        watch.see(&first, 0..<10)
        // A longer gap says it as well.
        if isTold { watch.restart() }
        watch.see(&second, isTold ? 11..<20 : 25..<34)
        #expect(watch.triggers.isEmpty)
    }

    @Test("a restart ends an event")
    func restart() {
        let (scene, times) = Scene.crossing(Scene.Kind.all[0], Self.size, seed: 110)
        var watch = Watch(Self.size)
        var moving = scene
        watch.see(&moving, 0..<times.upperBound - 2)
        let ended = [watch.restart(), watch.restart()]
        #expect(ended[0] != nil && ended[1] == nil)
    }

    @Test(
        "takes pictures of any size",
        arguments: [(1, 1), (2, 2), (3, 2), (2, 90), (16, 16), (17, 9), (161, 1), (163, 122)])
    func oddSizes(width: Int, height: Int) throws {
        let size = try #require(PictureSize(width, height))
        let picture = LumaThumbnail(LumaThumbnail.Layout(of: size))
        let detector = MotionDetector(WatchedPart(size))
        var random = SeededGenerator(seed: 111)
        for number in 0..<60 {
            // Everything changes, a part changes, nothing changes.
            for cell in 0..<picture.layout.count where number < 20 || (number < 40 && cell % 7 == 0) {
                picture.cells[cell] = UInt16.random(in: 0...4080, using: &random)
            }
            #expect(detector.look(at: picture, time: .start + .milliseconds(100 * number)) == .still)
        }
    }

    @Test("takes any times")
    func times() {
        var scene = Scene(Self.size, seed: 112)
        let picture = LumaThumbnail(scene.layout)
        let detector = MotionDetector(WatchedPart(Self.size))
        for time: Int64 in [0, 0, -5, .max, .min, .max, 1, 2, 3, 4, 5, 6, 7, 8] {
            scene.draw(at: 0, into: picture)
            #expect(detector.look(at: picture, time: Instant(nanoseconds: time)) == .still)
        }
    }

    @Test(
        "allocates nothing for a picture",
        .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"))
    func allocations() {
        var (scene, _) = Scene.crossing(Scene.Kind.all[0], Self.size, seed: 113)
        let pictures = (0..<100).map { number in
            let picture = LumaThumbnail(scene.layout)
            scene.draw(at: Double(number) / 10, into: picture)
            return picture
        }
        let detector = MotionDetector(WatchedPart(Self.size))
        var moving = 0
        allocations_begin()
        for (number, picture) in pictures.enumerated() {
            if case .moving = detector.look(at: picture, time: .start + .milliseconds(100 * number)) {
                moving += 1
            }
        }
        #expect(allocations_end() == 0)
        #expect(moving > 0)
    }
}
