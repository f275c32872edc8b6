import Bitstream
import Encoder
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import CamRecorder
import CamDelivery

/// The promised bit rates, with the real libx264 and libx265, on difficult content.
@Suite struct RateTests {
    /// A track with a real encoder, frame by frame.
    final class Bench {
        let scenes: Scenes
        let session: CompressionSession
        let track: EncodeTrack
        private let provider: CountingProvider
        private let output = RecordingOutput(OutputPlan(ScriptedSink()), measuresLatency: false)
        private(set) var units: [AccessUnit] = []

        init(_ codec: Codec, _ scenes: Scenes, configure: (inout CompressionProperties) -> Void) throws {
            self.scenes = scenes
            var configuration = CompressionProperties()
            configuration.codec = codec
            configure(&configuration)
            var request = EncoderRequest()
            request.preference = .software
            provider = CountingProvider(
                BackendEncoderProvider.providers(
                    request, configurations: [configuration], source: scenes.format)[0])
            session = try CompressionSession([provider])
            track = EncodeTrack(
                session.renditions[0], outputs: [output], clock: ScriptedInterruptibleClock())
        }

        /// How many sessions were opened.
        var sessionCount: Int { provider.openings }

        func encode(at time: Instant) {
            _ = session.encode(scenes.next(timestamp: time))
        }

        /// The output and its measurements.
        func finish() -> RecordingOutcome.Rate {
            session.finish()
            while let item = output.items.pop() { if case .unit(let unit) = item { units.append(unit) } }
            let first = units.map(\.timestamp).min() ?? .start, last = units.map(\.timestamp).max() ?? .start
            let seconds = (last - first).inSeconds * Double(units.count) / Double(max(1, units.count - 1))
            return track.rateOutcome(seconds: seconds)
        }

        /// The most bits in a window, found by checking all windows.
        func fullest(_ window: Double) -> Double {
            let window = Duration.seconds(window)
            let bits = units.map { last in
                units.reduce(0) {
                    $0
                        + (last.timestamp - window < $1.timestamp && $1.timestamp <= last.timestamp
                            ? $1.count * 8 : 0)
                }
            }
            return Double(bits.max() ?? 0)
        }
    }

    /// Which of 30 frames a second arrive.
    enum Arrival: CaseIterable {
        case all, everySecond, everySecondFromTheMiddle, random, bursts, sevenOfFifteen

        func comes(_ frame: Int, of count: Int, _ generator: inout some RandomNumberGenerator) -> Bool {
            switch self {
            case .all: true
            case .everySecond: frame % 2 == 0
            case .everySecondFromTheMiddle: frame < count / 2 || frame % 2 == 0
            case .random: frame == 0 || Bool.random(using: &generator)
            case .bursts: frame % 40 < 20
            case .sevenOfFifteen: frame % 15 % 2 == 0 && frame % 15 != 14
            }
        }
    }

    private func run(_ bench: Bench, _ arrival: Arrival, frames: Int = 900) {
        var generator = SystemRandom(state: 7)
        for frame in 0..<frames where arrival.comes(frame, of: frames, &generator) {
            bench.encode(at: .start + .seconds(frame) / 30)
        }
    }

    /// Its own random sequence.
    private struct SystemRandom: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test(
        "no window exceeds the maximum, whatever frames are lost", arguments: Codec.allCases, Arrival.allCases
    )
    func maximum(codec: Codec, arrival: Arrival) throws {
        let bench = try Bench(codec, Scenes(seed: 3)) {
            ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (300_000, 450_000)
        }
        run(bench, arrival)
        let measured = bench.finish()
        #expect(bench.fullest(1) <= 450_000 * 1.02)
        #expect(abs(measured.worstWindow - bench.fullest(1)) < 1)
        #expect(measured.brokenWindow == nil)
        #expect(measured.brokenAverage == nil)
    }

    @Test(
        "noise reaches its average by true time, whatever frames are lost, after some seconds",
        arguments: Codec.allCases, Arrival.allCases)
    func average(codec: Codec, arrival: Arrival) throws {
        let bench = try Bench(codec, Scenes(seed: 4, noiseOnly: true)) {
            ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (500_000, 800_000)
        }
        run(bench, arrival)
        let average = try #require(bench.finish().average)
        #expect(average <= 525_000)
        let late = bench.units.filter { $0.timestamp >= .start + .seconds(20) }.reduce(0) {
            $0 + $1.count * 8
        }
        // In bursts there is no room for a whole gap's bits; libx264 follows a change in about 15 s.
        let tolerance = arrival == .everySecondFromTheMiddle ? 0.08 : 0.05
        if arrival != .bursts { #expect(abs(Double(late) / 10 / 500_000 - 1) < tolerance) }
    }

    @Test("libx264 changes rates while open, without a keyframe; libx265 in a new session")
    func changes() throws {
        for codec in Codec.allCases {
            let bench = try Bench(codec, Scenes(seed: 5, noiseOnly: true)) {
                ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (800_000, 1_200_000)
                $0.keyframeInterval = .frames(1000)
            }
            for frame in 0..<450 {
                if frame == 150 { bench.session.change(.average(400_000)) }
                if frame == 300 { bench.session.change(.maximum(600_000)) }
                bench.encode(at: .start + .seconds(frame) / 30)
            }
            let measured = bench.finish()
            #expect(measured.brokenWindow == nil)
            #expect(bench.units.count == 450)
            let isInPlace = codec == .h264
            #expect(bench.units.filter(\.isIDR).map(\.frameNumber) == (isInPlace ? [0] : [0, 150, 300]))
            #expect(bench.sessionCount == (isInPlace ? 1 : 3))
            let bits = bench.units[210..<450].reduce(0) { $0 + $1.count * 8 }
            #expect(abs(Double(bits) / 8 / 400_000 - 1) < 0.1, "\(codec)")
            let fullest = (330..<420).map { start in
                bench.units[start..<start + 30].reduce(0) { $0 + $1.count * 8 }
            }
            #expect(fullest.max() ?? 0 <= 612_000)
        }
    }
}

/// Counts the encoders that another provider opens.
private final class CountingProvider: EncoderProvider {
    private let provider: any EncoderProvider
    private(set) var openings = 0

    init(_ provider: any EncoderProvider) { self.provider = provider }

    var codec: Codec { provider.codec }
    var keyframeInterval: KeyframeInterval { provider.keyframeInterval }
    var choice: EncoderChoice? { provider.choice }
    var stream: EncodedStream { provider.stream }

    func open(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder {
        openings += 1
        return try provider.open(watch)
    }

    func change(_ change: RateChange) -> Bool { provider.change(change) }
    func follow(_ source: PictureFormat) { provider.follow(source) }
    func discardSharedState() { provider.discardSharedState() }
    func giveUpDrivers() -> Bool { provider.giveUpDrivers() }
}
