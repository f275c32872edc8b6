import Bitstream
import Testing

@testable import Encoder

@Suite struct RateModelTests {
    private static let vga = 640 * 480

    private func request(
        rate: Int? = nil, maximum: Int? = nil, window: Double = 1, mode: RateControl.Mode? = nil,
        quality: Int? = nil
    ) -> RateControlRequest {
        var request = RateControlRequest()
        (request.bitRate, request.maximumBitRate, request.window) = (rate, maximum, window)
        (request.mode, request.quality) = (mode, quality)
        return request
    }

    private func model(
        _ request: RateControlRequest, area: Int = Self.vga, traits: RateTraits = .x264,
        framesInGroup: Int = 30
    ) throws -> RateModel {
        let (control, _) = try request.resolve(
            supported: Set(RateControl.Mode.allCases), pixelsPerSecond: Double(area) * 30,
            encoder: "the encoder")
        return RateModel(
            control, request: request, area: area, framesPerSecond: 30, framesInGroup: framesInGroup,
            traits: traits)
    }

    static let requests = [
        (2_000_000, 3_000_000, 1.0), (2_000_000, 3_000_000, 2), (2_000_000, 2_400_000, 10),
        (1_000_000, 9_000_000, 0.5),
    ]

    @Test("bucket and rate together fill a window exactly up to the maximum", arguments: requests)
    func window(rate: Int, maximum: Int, window: Double) throws {
        for traits in [RateTraits.x264, .x265, .driver(.h264), .driver(.hevc)] {
            // Small enough for every encoder to hold noise.
            let model = try model(
                request(rate: rate, maximum: maximum, window: window), area: 160 * 120, traits: traits)
            let bucket = try #require(model.bucket)
            #expect(model.shortfall == nil)
            #expect(abs(bucket.rate * window + bucket.size - Double(maximum) * window) < 1)
            #expect(bucket.rate >= Double(rate))
            #expect(model.promise.bitsInWindow == Int(Double(maximum) * window * 1.02))
        }
    }

    @Test("messages count against the rates: the encoder gets what they leave, but at least half")
    func messages() throws {
        for (messageRate, expected) in [(8_640.0, 1_991_360.0), (1_500_000, 1_000_000)] {
            let model = try model(request(rate: 2_000_000, maximum: 3_000_000))
                .leavingRoom(forMessages: messageRate)
            #expect(model.bucket?.rate == 2_000_000)
            #expect(model.encoderBucket?.rate == expected)
        }
    }

    @Test("software drains at the average, so this holds for any content; a driver averages by itself")
    func average() throws {
        let wanted = request(rate: 2_000_000, maximum: 3_000_000)
        #expect(try model(wanted).bucket?.rate == 2_000_000)
        #expect(try model(wanted, traits: .x265).bucket?.rate == 2_000_000)
        #expect(try model(wanted, traits: .driver(.h264)).bucket?.rate == 2_500_000)
    }

    @Test("CBR allows a tenth above its rate")
    func constant() throws {
        let model = try model(request(rate: 4_000_000, mode: .cbr))
        #expect(model.bucket == LeakyBucket(rate: 4_000_000, size: 400_000))
        #expect(model.promise.bitsInWindow == Int(4_400_000 * 1.02))
        #expect(model.promise.isMaximumWanted)
    }

    @Test("constant quality with a maximum respects it as well")
    func quality() throws {
        let model = try model(request(maximum: 3_000_000, quality: 20))
        #expect(model.bucket == LeakyBucket(rate: 2_500_000, size: 500_000))
        #expect(model.promise.average == nil)
    }

    @Test("a constant quantiser or quality alone promises nothing")
    func none() throws {
        for mode in [RateControl.Mode.cqp, .icq] {
            let model = try model(request(mode: mode))
            #expect(model.bucket == nil)
            #expect(model.promise.holdsMaximum(bits: .max))
            #expect(model.promise.holdsAverage(bits: .max, seconds: 1))
        }
    }

    @Test(
        "if a keyframe of noise does not fit, the bound is the rate plus that keyframe, and the warning says what fits"
    )
    func tight() throws {
        let keyframe = RateTraits.x264.noiseKeyframe(area: Self.vga)
        let model = try model(request(rate: 1_000_000, maximum: 1_050_000))
        #expect(model.bucket == LeakyBucket(rate: 1_000_000, size: keyframe))
        #expect(model.promise.bitsInWindow == Int((1_000_000 + keyframe) * 1.02))
        // 1.5 keyframes are 104,376 bits.
        #expect(model.shortfall?.contains("use --max-bitrate 1.2M or more") == true)
        #expect(try self.model(request(rate: 1_000_000, maximum: 1_104_000)).shortfall != nil)
        #expect(try self.model(request(rate: 1_000_000, maximum: 1_105_000)).shortfall == nil)
        // It fits in a window three times as long.
        #expect(try self.model(request(rate: 1_000_000, maximum: 1_050_000, window: 3)).shortfall == nil)
    }

    @Test("the rate in the warning does hold", arguments: [RateTraits.x264, .x265, .driver(.h264)])
    func enough(traits: RateTraits) throws {
        let requests = [
            request(rate: 500_000, maximum: 500_000), request(maximum: 100_000, quality: 30),
            request(rate: 300_000, mode: .cbr),
        ]
        for request in requests {
            let told = try #require(try model(request, traits: traits).shortfall)
            let word = try #require(
                told.split(separator: " ").first {
                    $0.last == "M" || $0.last == "k" ? Double($0.dropLast()) != nil : false
                })
            let rate = Int(try #require(Double(word.dropLast())) * (word.last == "M" ? 1e6 : 1e3))
            var changed = request
            if request.mode == .cbr { changed.bitRate = rate } else { changed.maximumBitRate = rate }
            #expect(try model(changed, traits: traits).shortfall == nil)
        }
    }

    @Test("warns of keyframes so close that they alone fill the window, and says what would hold")
    func manyKeyframes() throws {
        let wanted = request(rate: 1_000_000, maximum: 3_000_000)
        #expect(try model(wanted, traits: .x265).shortfall == nil)
        let model = try model(wanted, traits: .x265, framesInGroup: 3)
        // Ten keyframes of 309,200 bits.
        #expect(model.promise.bitsInWindow == Int(10 * 309_200 * 1.02))
        #expect(
            model.shortfall?.hasSuffix(
                "up to 309 kbit and a window has 10; use --max-bitrate 3.1M or more, or a longer --keyframe-interval"
            ) == true)
        let enough = request(rate: 1_000_000, maximum: 3_100_000)
        #expect(try self.model(enough, traits: .x265, framesInGroup: 3).shortfall == nil)
    }

    @Test("a default maximum never warns")
    func unasked() throws {
        #expect(try model(request(rate: 100_000), traits: .driver(.h264)).shortfall == nil)
    }

    @Test("warns of a window shorter than a frame, with a rate that holds if there is one")
    func shorterThanFrames() throws {
        let short = request(rate: 2_000_000, maximum: 3_000_000, window: 0.02)
        let shortfall = try model(short, area: 160 * 120).shortfall
        #expect(shortfall?.contains("use --max-bitrate 6.1M or more") == true)
        let constant = request(rate: 2_000_000, window: 0.02, mode: .cbr)
        #expect(
            try model(constant, area: 160 * 120).shortfall?.hasSuffix("use a longer --rate-window") == true)
    }

    @Test("a buffer holds at least a frame, however short the window")
    func shortWindow() throws {
        let bucket = try #require(
            try model(request(rate: 60_000_000, maximum: 60_000_000, window: 0.001)).bucket)
        #expect(bucket.size >= 2_000_000)
    }

    @Test("allows a stream the bucket's bits beyond its average, and five per cent")
    func averageLimit() throws {
        let promise = try model(request(rate: 1_000_000, maximum: 2_000_000)).promise
        #expect(promise.holdsAverage(bits: 10_500_000 + 1_000_000, seconds: 10))
        #expect(!promise.holdsAverage(bits: 10_500_000 + 1_000_001, seconds: 10))
    }
}
