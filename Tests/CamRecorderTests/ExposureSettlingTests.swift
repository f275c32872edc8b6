import Foundation
import TestSupport
import Testing
import CamPlatform

@testable import CamRecorder

/// When the brightness of a camera's pictures says that its exposure has settled.
@Suite struct ExposureSettlingTests {
    /// Judges pictures at 30 a second until a verdict; nil after all of them.
    private func verdict(
        on lumas: [Double], bound: Duration = .seconds(10), framesPerSecond: Double = 30
    ) -> (verdict: ExposureSettling.Verdict, picture: Int)? {
        var settling = ExposureSettling(bound: bound)
        for (number, luma) in lumas.enumerated() {
            let time = Instant.start + .seconds(Double(number) / framesPerSecond)
            let verdict = settling.judge(luma: luma, at: time)
            if verdict != .settling { return (verdict, number) }
        }
        return nil
    }

    private func lumas(_ count: Int, _ luma: (Double) -> Double) -> [Double] {
        (0..<count).map { luma(Double($0)) }
    }

    @Test("six equally bright pictures have settled, in a fifth of a second")
    func settledBefore() throws {
        let result = try #require(verdict(on: lumas(60) { _ in 110 }))
        #expect(result == (.settled, 5))
    }

    @Test(
        "a steady brightness that is dark or dazzling has settled after eighteen pictures, in less than a second",
        arguments: [30.0, 240])
    func steady(brightness: Double) throws {
        let result = try #require(verdict(on: lumas(60) { _ in brightness }))
        #expect(result == (.settled, 17))
    }

    @Test(
        "a brightness that rises or falls has not settled until it stops",
        arguments: [(16.0, 120.0), (250, 90)])
    func ramp(from first: Double, to last: Double) throws {
        let lumas = lumas(120) { first + (last - first) * min(1, $0 / 40) }
        let result = try #require(verdict(on: lumas))
        #expect(result.verdict == .settled)
        #expect((46...60).contains(result.picture), "\(result.picture)")
        #expect(abs(lumas[result.picture] - last) < 2)
    }

    @Test("dark pictures at the start are not taken for a steady brightness")
    func darkStart() throws {
        let lumas = lumas(120) { $0 < 10 ? 16 : 16 + 100 * (1 - exp(-($0 - 10) / 6)) }
        let result = try #require(verdict(on: lumas))
        #expect(result.verdict == .settled)
        #expect(lumas[result.picture] > 110)
    }

    @Test("the noise of a sensor does not delay it")
    func noise() throws {
        var generator = SeededGenerator(seed: 7)
        let lumas = lumas(60) { _ in 100 + Double.random(in: -1...1, using: &generator) }
        let result = try #require(verdict(on: lumas))
        #expect(result.verdict == .settled && result.picture < 25)
    }

    @Test(
        "lights that flicker do not delay it: at 50 and 60 Hz, with 15, 25 and 30 pictures a second",
        arguments: [50.0, 60], [15.0, 25, 30])
    func flicker(mains: Double, framesPerSecond: Double) throws {
        let lumas = lumas(90) { 100 + 8 * sin(2 * .pi * 2 * mains * $0 / framesPerSecond) }
        let result = try #require(verdict(on: lumas, framesPerSecond: framesPerSecond))
        #expect(result.verdict == .settled && result.picture < 30, "\(result)")
    }

    @Test(
        "an exposure that hunts has not settled, fast or slow", arguments: [16.0, 24, 40, 60])
    func hunting(period: Double) {
        for phase in 0..<8 {
            let lumas = lumas(290) { 100 + 15 * sin(2 * .pi * ($0 / period + Double(phase) / 8)) }
            #expect(verdict(on: lumas) == nil, "period \(period), phase \(phase)")
        }
    }

    @Test("without a steady brightness, the time decides")
    func bound() throws {
        let lumas = lumas(300) { $0 }
        let result = try #require(verdict(on: lumas, bound: .seconds(1)))
        #expect(result == (.timedOut, 30))
    }

    @Test("at a low rate, the time alone does not decide")
    func slow() throws {
        let result = try #require(verdict(on: lumas(10) { 20 * $0 }, bound: .seconds(1), framesPerSecond: 2))
        #expect(result == (.timedOut, 4))
    }

    @Test("at a low rate, a brightness that stays has settled when the time is over")
    func slowAndSteady() throws {
        let result = try #require(verdict(on: lumas(20) { _ in 40 }, bound: .seconds(1), framesPerSecond: 10))
        #expect(result == (.settled, 10))
    }

    @Test("without time to settle, the first picture is taken")
    func none() throws {
        let result = try #require(verdict(on: [0, 100], bound: .zero))
        #expect(result == (.settled, 0))
    }
}
