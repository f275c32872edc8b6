import Testing

@testable import Encoder

@Suite struct RateControlTests {
    typealias Mode = RateControl.Mode

    /// Every set of modes that an encoder might have.
    static let supports: [Set<Mode>] = (0..<32).map { bits in
        Set(Mode.allCases.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element))
    }

    /// A request that implies each mode.
    static func request(for mode: Mode) -> RateControlRequest {
        var request = RateControlRequest()
        request.mode = mode
        return request
    }

    private func resolve(
        _ request: RateControlRequest, _ supported: Set<Mode> = Set(Mode.allCases), pixels: Double = 1e6
    ) throws -> (control: RateControl, note: String?) {
        try request.resolve(supported: supported, pixelsPerSecond: pixels, encoder: "the encoder")
    }

    @Test("a new average rate replaces a constant quantiser or quality, and a lower maximum")
    func changedRate() {
        var request = RateControlRequest()
        request.mode = .cqp
        request.quantizer = 24
        request.maximumBitRate = 3_000_000
        let lower = request.changed(.average(2_000_000))
        #expect(lower.wantedMode == .vbr)
        #expect((lower.bitRate, lower.maximumBitRate) == (2_000_000, 3_000_000))
        #expect(request.changed(.average(4_000_000)).maximumBitRate == nil)
        request.mode = .cbr
        #expect(request.changed(.average(1_000_000)).wantedMode == .cbr)
    }

    @Test("uses a mode that the encoder has, silently", arguments: Mode.allCases)
    func supported(mode: Mode) throws {
        for supported in Self.supports where supported.contains(mode) {
            let (control, note) = try resolve(Self.request(for: mode), supported)
            #expect(control.mode == mode)
            #expect(note == nil)
        }
    }

    @Test("replaces a missing mode with one that exists, and gives the reason", arguments: Mode.allCases)
    func fallback(mode: Mode) throws {
        for supported in Self.supports where !supported.contains(mode) && !supported.isEmpty {
            let (control, note) = try resolve(Self.request(for: mode), supported)
            #expect(supported.contains(control.mode))
            #expect(note == "the encoder has no \(mode.rawValue.uppercased()); using \(control)")
        }
    }

    @Test("an encoder without any mode is an error", arguments: Mode.allCases)
    func none(mode: Mode) {
        #expect(throws: EncoderError.self) { try resolve(Self.request(for: mode), []) }
    }

    @Test(
        "each request has its nearest substitute",
        arguments: [
            (.cbr, [.vbr, .cqp], .vbr), (.vbr, [.cbr, .cqp], .cbr), (.vbr, [.cqp], .cqp),
            (.cqp, [.icq, .vbr], .icq), (.icq, [.cqp, .vbr], .cqp), (.qvbr, [.vbr, .cqp], .vbr),
        ] as [(Mode, [Mode], Mode)])
    func nearest(wanted: Mode, supported: [Mode], expected: Mode) throws {
        #expect(try resolve(Self.request(for: wanted), Set(supported)).control.mode == expected)
    }

    @Test("derives the mode from the request")
    func implied() {
        var request = RateControlRequest()
        #expect(request.wantedMode == .vbr)
        request.quality = 20
        #expect(request.wantedMode == .icq)
        request.maximumBitRate = 1_000_000
        #expect(request.wantedMode == .qvbr)
        request = RateControlRequest()
        request.quantizer = 20
        #expect(request.wantedMode == .cqp)
        request.mode = .cbr
        #expect(request.wantedMode == .cbr)
    }

    @Test("without a request: 0.1 bit a pixel, at most four times that: 6.2 Mbit/s for 1080p30")
    func defaultRate() throws {
        let control = try resolve(RateControlRequest(), pixels: 1920 * 1080 * 30).control
        #expect(control == .variableBitRate(rate: 6_220_800, maximum: 24_883_200, window: 1))
        #expect(control.description == "VBR 6.2 Mbit/s, at most 24.9 Mbit/s")
    }

    @Test("gives tiny pictures 64 kbit/s")
    func leastRate() throws {
        #expect(try resolve(RateControlRequest(), pixels: 100).control.bitRate == 64_000)
    }

    @Test("a maximum alone bounds the average too")
    func maximumAlone() throws {
        var request = RateControlRequest()
        request.maximumBitRate = 1_000_000
        request.window = 0.5
        #expect(
            try resolve(request, pixels: 1e9).control
                == .variableBitRate(rate: 1_000_000, maximum: 1_000_000, window: 0.5))
    }

    @Test("the substitute mode uses a requested quantiser or quality, too")
    func carriedOver() throws {
        var request = RateControlRequest()
        request.quality = 19
        #expect(try resolve(request, [.cqp]).control == .constantQuantizer(19))
        request = RateControlRequest()
        request.quantizer = 31
        #expect(try resolve(request, [.icq]).control == .constantQuality(31))
    }

    @Test(
        "rates print for people",
        arguments: [
            (64_000, "64 kbit/s"), (999_999, "1000 kbit/s"), (4_000_000, "4 Mbit/s"),
            (6_250_000, "6.3 Mbit/s"),
        ])
    func prints(rate: Int, text: String) { #expect(BitRate(rate).description == text) }
}
