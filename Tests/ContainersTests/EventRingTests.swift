import Bitstream
import CamSound
import Testing
import CamPlatform
@testable import CamStorage

/// What is kept of the time before an event, and when its file begins and ends.
@Suite struct EventRingTests {
    /// Ten pictures a second, an IDR at each `interval`.
    private func units(_ range: Range<Int>, interval: Int = 10) -> [AccessUnit] {
        range.map {
            accessUnit(
                length: 96, isIDR: $0.isMultiple(of: interval), frameNumber: $0,
                timestamp: .start + .milliseconds(100) * $0)
        }
    }

    private func ring(before: Double = 3, after: Double = 2, bytes: Int = 1 << 20) -> EventRing {
        var plan = EventRing.Plan(before: .seconds(before), after: .seconds(after))
        plan.byteLimit = bytes
        return EventRing(plan)
    }

    /// The numbers of the pictures in each event's file.
    private func files(_ ring: EventRing, _ units: [AccessUnit], triggers: Set<Int>) -> [[Int]] {
        var (ring, files, isOpen) = (ring, [[Int]](), false)
        for unit in units {
            if triggers.contains(unit.frameNumber) {
                let kept = ring.trigger().compactMap(\.picture?.frameNumber)
                if !kept.isEmpty {
                    #expect(!isOpen)
                    isOpen = true
                    files.append(kept)
                }
            }
            switch ring.next(unit) {
            case .keep: #expect(!isOpen)
            case .write:
                if !isOpen {
                    #expect(unit.isIDR)
                    isOpen = true
                    files.append([])
                }
                files[files.count - 1].append(unit.frameNumber)
            case .endEvent:
                #expect(isOpen && unit.isIDR)
                isOpen = false
            }
        }
        return files
    }

    @Test("an event's file begins with an IDR the wanted time before it, and ends with a group of pictures")
    func event() {
        #expect(files(ring(), units(0..<200), triggers: [75]) == [Array(40..<100)])
    }

    @Test("says how long its pictures last, unless an event is written")
    func heldTime() {
        var ring = ring()
        #expect(ring.heldTime == .zero)
        for unit in units(0..<26) { _ = ring.next(unit) }
        #expect(ring.heldTime == .milliseconds(2500))
        for unit in units(26..<100) { _ = ring.next(unit) }
        #expect(ring.heldTime == .milliseconds(3900))
        _ = ring.trigger()
        #expect(ring.heldTime == nil)
    }

    @Test("writes what there is if that is less than the wanted time")
    func early() {
        #expect(files(ring(), units(0..<200), triggers: [3]) == [Array(0..<30)])
        #expect(files(ring(), units(0..<200), triggers: [0]) == [Array(0..<20)])
    }

    @Test("a trigger during an event prolongs it")
    func prolonged() {
        #expect(files(ring(), units(0..<200), triggers: [75, 90, 105]) == [Array(40..<130)])
    }

    @Test("an event's file does not end while the event lasts, however short the time after it")
    func held() {
        var ring = ring(before: 1, after: 0.5)
        let pictures = units(0..<60)
        for unit in pictures[..<15] { #expect(ring.next(unit) == .keep) }
        #expect(ring.trigger().count == 15)
        for unit in pictures[15..<45] { #expect(ring.next(unit, isHeld: true) == .write) }
        for unit in pictures[45..<50] { #expect(ring.next(unit) == .write) }
        #expect(ring.next(pictures[50]) == .endEvent)
    }

    @Test("after an event the ring fills again, and no picture is in two files")
    func another() {
        #expect(files(ring(), units(0..<200), triggers: [75, 105]) == [Array(40..<100), Array(100..<130)])
        #expect(files(ring(), units(0..<200), triggers: [75, 115]) == [Array(40..<100), Array(100..<140)])
    }

    @Test("without a trigger, writes nothing, and keeps only the time and a group of pictures")
    func idle() {
        var ring = ring()
        for unit in units(0..<1000) { #expect(ring.next(unit) == .keep) }
        #expect(ring.trigger().compactMap(\.picture?.frameNumber) == Array(960..<1000))
    }

    @Test("bounds bytes, in whole groups of pictures, with 512 more for each picture")
    func bytes() {
        var ring = ring(before: 1000, bytes: (100 + 512) * 25)
        for unit in units(0..<100) { _ = ring.next(unit) }
        #expect(ring.trigger().compactMap(\.picture?.frameNumber) == Array(80..<100))
    }

    @Test("if a group of pictures is too large for the ring, an event waits for the next IDR")
    func tooLarge() {
        #expect(files(ring(bytes: (100 + 512) * 5), units(0..<100), triggers: [17]) == [Array(20..<40)])
    }

    @Test("delivers the kept pictures on a trigger, even if no other picture comes")
    func stillness() {
        var ring = ring()
        for unit in units(0..<75) { _ = ring.next(unit) }
        #expect(ring.trigger().compactMap(\.picture?.frameNumber) == Array(40..<75))
        #expect(ring.trigger().isEmpty)
        // The time after it begins with the first picture after it, however late that is.
        for unit in units(200..<220) { #expect(ring.next(unit) == .write) }
        #expect(ring.next(units(220..<221)[0]) == .endEvent)
    }

    @Test("survives any capture time")
    func hostileClock() {
        var ring = ring()
        for (number, time) in [Instant.distantFuture, .distantPast, .start, .distantFuture, .distantPast]
            .enumerated()
        {
            if number.isMultiple(of: 2) { _ = ring.trigger() }
            _ = ring.next(accessUnit(frameNumber: number, timestamp: time))
        }
    }

    @Test("keeps the sound of its pictures, in their order, and writes it during an event")
    func sound() throws {
        var ring = ring()
        #expect(!ring.next(try packet(at: .zero)))
        for (number, unit) in units(0..<100).enumerated() {
            _ = ring.next(unit)
            #expect(!ring.next(try packet(at: .seconds(number))))
        }
        let kept = ring.trigger()
        #expect(kept.first?.picture?.isIDR == true)
        for (picture, sound) in zip(kept, kept.dropFirst()) where picture.picture != nil {
            #expect(sound.picture == nil)
        }
        #expect(kept.count == 2 * kept.count { $0.picture != nil })
        #expect(ring.next(try packet(at: .seconds(100))))
    }

    private func packet(at time: Duration) throws -> SoundPacket {
        try #require(SoundPacket(timestamp: .start + time, duration: .milliseconds(20)))
    }
}
