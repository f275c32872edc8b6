import TestSupport
import Testing
import CamPlatform

@testable import Encoder

@Suite struct RateRegulatorTests {
    private static let model: RateModel = {
        var request = RateControlRequest()
        (request.bitRate, request.maximumBitRate) = (900_000, 1_500_000)
        return RateModel(
            .variableBitRate(rate: 900_000, maximum: 1_500_000, window: 1), request: request, area: 320 * 240,
            framesPerSecond: 30, framesInGroup: 30, traits: .x264)
    }()
    /// This many fractions of a second after the clock's start.
    private static func time(_ count: Int, _ parts: Int = 1) -> Instant { .start + .seconds(count) / parts }

    private func begin(_ regulator: RateRegulator, followsTime: Bool) -> RateRegulator.Opening? {
        let opening = regulator.opening(Self.model, nominalRate: 30, followsTime: followsTime)
        regulator.begin(Self.model, nominalRate: 30, opening: opening, followsTime: followsTime)
        return opening
    }

    /// An encoder that uses all bits in its bucket, counted like libx264.
    private struct Glutton {
        var room: Double
        let size: Double
        var rate: Double

        mutating func code() -> Int {
            let bits = Int(room)
            room = min(size, room - Double(bits) + rate / 30)
            return bits
        }
    }

    @Test(
        "a greedy encoder that counts frames keeps to the bucket in true time",
        arguments: [[1], [2], [1, 2, 3, 1, 1, 6], [1, 1, 1, 1, 20], [10]], [0, 16])
    func trueTime(gaps: [Int], heldBack: Int) throws {
        let regulator = RateRegulator()
        let opening = try #require(begin(regulator, followsTime: true))
        var encoder = Glutton(room: opening.room, size: opening.size, rate: opening.rate)
        var (frame, units) = (0, [(time: Instant, bits: Int)]())
        var pending: [Instant] = []
        for number in 0..<600 {
            pending.append(Self.time(frame, 30))
            if let rate = regulator.frame(at: Self.time(frame, 30), next: pending[0]) {
                encoder.rate = Double(rate)
            }
            frame += gaps[number % gaps.count]
            guard pending.count > heldBack else { continue }
            let bits = encoder.code()
            regulator.coded(bits: bits)
            units.append((pending.removeFirst(), bits))
        }
        frame -= pending.count * gaps.reduce(0, +) / gaps.count
        for last in units {
            let bits = units.reduce(0) {
                $0 + (last.time - .seconds(1) < $1.time && $1.time <= last.time ? $1.bits : 0)
            }
            #expect(Double(bits) <= 1_500_000 * 1.02)
        }
        // If the bucket is never full, everything that capture time gives is used.
        let total = Double(units.reduce(0) { $0 + $1.bits })
        let seconds = Double(frame) / 30
        if gaps.max() ?? 0 <= 6 { #expect(abs(total / seconds / 900_000 - 1) < 0.05) }
    }

    @Test("an encoder that overspends gets less until that is repaid")
    func debt() throws {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: true)
        _ = regulator.frame(at: .start)
        // The bucket had 540,000 bits.
        regulator.coded(bits: 840_000)
        let rate = try #require(regulator.frame(at: Self.time(1, 30)))
        #expect(rate < 100_000)
    }

    @Test(
        "a stream begins with at most nine tenths of a second of its rate, however large the bucket"
    )
    func firstRoom() throws {
        var request = RateControlRequest()
        request.bitRate = 1_000_000
        let model = RateModel(
            .variableBitRate(rate: 1_000_000, maximum: 4_000_000, window: 1), request: request,
            area: 320 * 240, framesPerSecond: 30, framesInGroup: 30, traits: .x264)
        let regulator = RateRegulator()
        let opening = try #require(regulator.opening(model, nominalRate: 30, followsTime: true))
        #expect(opening.size == 3_000_000)
        #expect(opening.room == 900_000)
        regulator.begin(model, nominalRate: 30, opening: opening, followsTime: true)
        _ = regulator.frame(at: .start)
        regulator.coded(bits: 400_000)
        #expect(try #require(regulator.opening(model, nominalRate: 30, followsTime: false)).room == 500_000)
    }

    @Test("a new session begins with the remaining room, and repays any excess")
    func carriedOver() throws {
        let regulator = RateRegulator()
        #expect(try #require(begin(regulator, followsTime: false)).room == 540_000)
        _ = regulator.frame(at: .start)
        regulator.coded(bits: 340_000)
        _ = regulator.frame(at: Self.time(1, 10))
        // 200,000 were left, and a tenth of a second gave 90,000.
        #expect(try #require(begin(regulator, followsTime: false)).room == 290_000)
        regulator.coded(bits: 900_000)
        #expect(try #require(begin(regulator, followsTime: false)).room == 30_000)
    }

    @Test("software does not repay what a GPU overspent")
    func anotherBackend() throws {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: false)
        _ = regulator.frame(at: .start)
        regulator.coded(bits: 20_000_000)
        let opening = try #require(begin(regulator, followsTime: true))
        #expect(opening.room == 30_000)
        let rate = regulator.frame(at: Self.time(1, 30)) ?? Int(opening.rate)
        #expect(rate > 800_000)
    }

    @Test("a rate that differs by over a tenth for two seconds gets a new session")
    func anotherSession() throws {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: false)
        for frame in 0..<59 { _ = regulator.frame(at: Self.time(frame, 30)) }
        #expect(!regulator.wantsAnotherSession)
        for frame in 0..<14 { _ = regulator.frame(at: Self.time(14 + frame, 7)) }
        #expect(!regulator.wantsAnotherSession)
        for frame in 14..<30 { _ = regulator.frame(at: Self.time(14 + frame, 7)) }
        #expect(regulator.wantsAnotherSession)
        let opening = try #require(begin(regulator, followsTime: false))
        #expect(abs(opening.scale - 30.0 / 7) < 0.1)
        #expect(abs(opening.size - 600_000) < 1)
        #expect(!regulator.wantsAnotherSession)
    }

    @Test("frames lost at random cause a few sessions, not one every other second")
    func randomLoss() {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: false)
        var generator = SeededGenerator(seed: 3)
        var sessions = 0
        for frame in 0..<(30 * 120) where UInt8.random(in: 0...1, using: &generator) == 0 {
            _ = regulator.frame(at: Self.time(frame, 30))
            guard regulator.wantsAnotherSession else { continue }
            sessions += 1
            _ = begin(regulator, followsTime: false)
        }
        #expect((1...5).contains(sessions))
    }

    @Test("ignores an outage in the camera's rate")
    func outage() {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: false)
        for life in 0..<20 {
            for frame in 0..<40 {
                _ = regulator.frame(at: Self.time(life * 900 + frame, 30))
            }
        }
        #expect(!regulator.wantsAnotherSession)
    }

    @Test("an encoder whose rates are updated with each frame needs no new session")
    func follows() {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: true)
        for frame in 0..<60 { _ = regulator.frame(at: Self.time(frame, 7)) }
        #expect(!regulator.wantsAnotherSession)
    }

    @Test("a clock that goes backwards gives no bits")
    func backwards() throws {
        let regulator = RateRegulator()
        _ = begin(regulator, followsTime: false)
        _ = regulator.frame(at: Self.time(10))
        regulator.coded(bits: 400_000)
        _ = regulator.frame(at: .start)
        _ = regulator.frame(at: Self.time(5))
        #expect(try #require(begin(regulator, followsTime: false)).room == 140_000)
    }
}

extension RateRegulator {
    /// A frame is about to be coded by an encoder that holds none back.
    func frame(at timestamp: Instant) -> Int? { frame(at: timestamp, next: timestamp) }
}
