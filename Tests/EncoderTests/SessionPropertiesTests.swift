import Bitstream
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder

@Suite struct LevelTests {
    @Test(
        "finds the lowest level for size and rate (table A-1)",
        arguments: [
            ("176x144", "15", "1"), ("320x240", "30", "1.3"), ("640x480", "30", "3"),
            ("640x480", "60", "3.1"),
            ("1280x720", "30", "3.1"), ("1280x720", "60", "3.2"), ("1920x1080", "30", "4"),
            ("1920x1080", "29.97", "4"), ("1920x1080", "60", "4.2"), ("3840x2160", "30", "5.1"),
            ("3840x2160", "60", "5.2"), ("7680x4320", "30", "6"), ("2x16384", "1", "6"),
        ])
    func lowest(size: String, rate: String, level: String) throws {
        let size = try #require(PictureSize(size))
        let rate = try #require(FrameRate(rate))
        #expect(Level.lowest(for: size, at: rate, codec: .h264)?.description == level)
    }

    @Test(
        "finds the lowest H.265 level for size and rate (tables A.8 and A.9)",
        arguments: [
            ("176x144", "15", "1"), ("320x240", "30", "2"), ("640x480", "30", "3"), ("640x480", "60", "3.1"),
            ("1280x720", "30", "3.1"), ("1920x1080", "30", "4"), ("1920x1080", "60", "4.1"),
            ("3840x2160", "30", "5"), ("3840x2160", "60", "5.1"), ("7680x4320", "30", "6"),
        ])
    func lowestOfH265(size: String, rate: String, level: String) throws {
        let size = try #require(PictureSize(size))
        let rate = try #require(FrameRate(rate))
        let lowest = try #require(Level.lowest(for: size, at: rate, codec: .hevc))
        #expect(lowest.description == level)
        #expect(lowest.number(in: .hevc) == Int(((Double(level) ?? 0) * 30).rounded()))
    }

    @Test(
        "a session opened for another frame rate has the same parameter sets",
        arguments: [1_000_000, 2_900_000])
    func sameSets(rate: Int) throws {
        let film = try Film(.nv12, 320, 240, rate: "30")
        let regulator = RateRegulator()
        func sets() throws -> ParameterSets {
            let encoder = try film.software(regulator: regulator) {
                $0.codec = .hevc
                ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (rate, rate * 3 / 2)
            }
            return try #require(try film.encode(1, with: encoder).first).withUnsafeBytes {
                try ParameterSets(annexB: $0.bytes, codec: .hevc)
            }
        }
        let first = try sets()
        // A fifth of the frames arrive, so the session gets five times the rate.
        for frame in 1..<30 { _ = regulator.frame(at: .start + .seconds(frame) / 6) }
        #expect(regulator.wantsAnotherSession)
        #expect(try sets() == first)
    }

    @Test("finds no level beyond the last")
    func none() {
        #expect(Level.lowest(for: PictureSize(16384, 16384)!, at: FrameRate(30)!, codec: .h264) == nil)
        #expect(Level.lowest(for: PictureSize(3840, 2160)!, at: FrameRate(1_000_000)!, codec: .h264) == nil)
    }

    @Test("reads levels as users write them", arguments: ["1", "1.1", "3.0", "4", "5.2", "6.2"])
    func reads(text: String) throws {
        let level = try #require(Level(text))
        #expect(level.description == (text.hasSuffix(".0") ? String(text.dropLast(2)) : text))
    }

    @Test(
        "reads nothing else as a level",
        arguments: ["", "0", "4.", ".1", "4.3", "7", "4.1.1", "40", "3.10", "-4", "4.-1"])
    func refuses(text: String) { #expect(Level(text) == nil) }
}

/// Each property is checked against what the encoder claims to support.
@Suite struct SessionPropertiesTests {
    private static func limits(
        _ change: (inout SessionProperties.Limits) -> Void = { _ in }
    ) -> SessionProperties.Limits {
        var limits = SessionProperties.Limits(
            encoder: "the encoder", profiles: CompressionProperties.Profile.allCases,
            rateControlModes: Set(RateControl.Mode.allCases), maximumSize: PictureSize(4096, 4096),
            minimumSize: PictureSize(16, 16), maximumSlices: 32, hasBPictures: true,
            rateTraits: .x264)
        change(&limits)
        return limits
    }

    private func properties(
        width: Int = 1920, height: Int = 1080, rate: String = "30",
        limits: SessionProperties.Limits = Self.limits(),
        _ configure: (inout CompressionProperties) -> Void = { _ in }
    ) throws -> SessionProperties {
        var configuration = CompressionProperties()
        configure(&configuration)
        let size = try #require(PictureSize(width, height))
        let frameRate = try #require(FrameRate(rate))
        let source = try #require(
            PictureFormat(
                .nv12, size: size, frameRate: frameRate, color: ColorEncoding(range: .full, matrix: .bt601)))
        return try SessionProperties(configuration, source: source, limits: limits)
    }

    private func failure(_ body: () throws -> SessionProperties) -> EncoderError.Kind? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? EncoderError)?.kind
        }
    }

    @Test("without requests, everything has the best or usual value, without notes")
    func usual() throws {
        let properties = try properties()
        #expect(properties.profile == .high)
        #expect(properties.level == nil)
        #expect(properties.entropyMode == .cabac)
        #expect(properties.keyframeInterval == .seconds(1))
        #expect(properties.bFrames == 0)
        #expect(properties.slices == 1)
        #expect(properties.latency == .realtime)
        #expect(properties.color == ColorEncoding(range: .full, matrix: .bt601))
        #expect(properties.notes.isEmpty)
    }

    // MARK: Profile, level, entropy mode

    @Test("uses the encoder's best profile")
    func bestProfile() throws {
        #expect(
            try properties(limits: Self.limits { $0.profiles = [.constrainedBaseline, .main] }).profile
                == .main)
        #expect(
            try properties(limits: Self.limits { $0.profiles = [.constrainedBaseline] }).profile
                == .constrainedBaseline)
        #expect(
            failure { try properties(limits: Self.limits { $0.profiles = [] }) }
                == .unsupported("the encoder does not encode H.264"))
    }

    @Test("refuses a profile that the encoder lacks, and names those it has")
    func missingProfile() throws {
        #expect(
            failure { try properties(limits: Self.limits { $0.profiles = [.main] }) { $0.profile = .high } }
                == .unsupported("the encoder has no profile high, only main"))
        #expect(try properties { $0.profile = .main }.profile == .main)
    }

    @Test("refuses too low a level, and names the one to use")
    func lowLevel() throws {
        #expect(
            failure { try properties { $0.level = Level("3.1") } }
                == .contradiction(
                    "level 3.1 is too low for 1920x1080 at 30 frames a second; use 4 or --level auto"))
        #expect(try properties { $0.level = Level("5.1") }.level == Level("5.1"))
    }

    @Test("refuses what no level allows, whatever the encoder says")
    func noLevel() {
        #expect(
            failure {
                try properties(width: 16384, height: 16384, limits: Self.limits { $0.maximumSize = nil })
            }
                == .contradiction(
                    "H.264 has no level for 16384x16384 at 30 frames a second; lower --size or --fps"))
    }

    @Test("the entropy mode follows the profile; CABAC in constrained baseline is an error")
    func entropyMode() throws {
        #expect(try properties { $0.profile = .constrainedBaseline }.entropyMode == .cavlc)
        #expect(try properties { $0.entropyMode = .cavlc }.entropyMode == .cavlc)
        #expect(
            failure {
                try properties {
                    $0.profile = .constrainedBaseline
                    $0.entropyMode = .cabac
                }
            } == .contradiction("CABAC needs profile main or high (H.264 A.2.1); use another --profile"))
    }

    // MARK: B frames and slices

    @Test("B frames in constrained baseline, or beyond the allowed delay, are errors")
    func impossibleBFrames() {
        #expect(
            failure {
                try properties {
                    $0.profile = .constrainedBaseline
                    $0.bFrames = 2
                }
            } == .contradiction("B frames need profile main or high (H.264 A.2.1); use another --profile"))
        #expect(
            failure {
                try properties {
                    $0.bFrames = 2
                    $0.maximumFrameDelay = 1
                }
            } == .contradiction("2 B frames delay the stream by 2 frames; raise --max-frame-delay from 1"))
    }

    @Test("uses no B frames if the encoder has none, and says so")
    func noBFrames() throws {
        let properties = try properties(limits: Self.limits { $0.hasBPictures = false }) { $0.bFrames = 2 }
        #expect(properties.bFrames == 0)
        #expect(properties.notes.map(\.description) == ["the encoder makes no B frames; using none"])
        #expect(properties.notes.map(\.contradictsRequest) == [true])
    }

    @Test("the declared level fits the slices", arguments: [(30, "3"), (32, "3.1")])
    func levelOfSlices(slices: Int, level: String) throws {
        let properties = try properties(width: 64, height: 2048) {
            $0.codec = .hevc
            $0.slices = slices
        }
        #expect(properties.slices == slices)
        #expect(Level.declared(by: properties)?.description == level)
    }

    @Test("reduces slices to what the encoder allows or the picture has rows for, and says so")
    func slices() throws {
        #expect(try properties { $0.slices = 4 }.slices == 4)
        let limited = try properties(limits: Self.limits { $0.maximumSlices = 2 }) { $0.slices = 4 }
        #expect(limited.slices == 2)
        #expect(
            limited.notes.map(\.description) == [
                "the encoder makes at most 2 slices for pictures of this size"
            ])
        #expect(try properties(width: 64, height: 33) { $0.slices = 32 }.slices == 3)
    }

    // MARK: Size

    @Test("makes an odd size even, with its edge repeated, and says so")
    func oddSize() throws {
        let properties = try properties(width: 639, height: 479)
        #expect(properties.size == PictureSize(640, 480))
        #expect(
            properties.notes.map(\.description) == [
                "639x479 is odd; the stream is 640x480, with its edge repeated"
            ])
        #expect(properties.notes.map(\.contradictsRequest) == [false])
    }

    @Test("refuses pictures too large or too small for the encoder")
    func bounds() throws {
        #expect(
            failure { try properties(width: 4098, height: 16) }
                == .unsupported("the encoder encodes up to 4096x4096, not 4098x16"))
        #expect(
            failure { try properties(width: 320, height: 14) }
                == .unsupported("the encoder encodes 16x16 and larger, not 320x14"))
        #expect(try properties(width: 4095, height: 15).size == PictureSize(4096, 16))
    }

    // MARK: Rate, keyframes, colour

    @Test("replaces a rate control that the encoder lacks, and says so")
    func rateControl() throws {
        let properties = try properties(limits: Self.limits { $0.rateControlModes = [.cqp] }) {
            $0.rateControl.bitRate = 1_000_000
        }
        #expect(properties.rateControl == .constantQuantizer(24))
        #expect(properties.notes.count == 1)
        #expect(properties.notes.map(\.contradictsRequest) == [true])
    }

    @Test("a group of pictures holds an interval's frames, and some more if time decides")
    func keyframeInterval() throws {
        func group(_ interval: KeyframeInterval, rate: String) throws -> Int {
            try properties(rate: rate) { $0.keyframeInterval = interval }.framesInGroup
        }
        #expect(try group(.seconds(2), rate: "29.97") == 60 + 15 + 2)
        #expect(try group(.seconds(0.001), rate: "30") == 1 + 2)
        #expect(try group(.frames(50), rate: "30") == 50)
        #expect(try group(.frames(50, orSeconds: 1), rate: "30") == 30 + 7 + 2)
        #expect(try group(.frames(0), rate: "30") == 1)
    }

    @Test("range and matrix are the source's unless requested")
    func color() throws {
        let properties = try properties {
            $0.colorRange = .limited
            $0.colorMatrix = .bt709
        }
        #expect(properties.color == ColorEncoding(range: .limited, matrix: .bt709))
    }

    @Test("refuses what H.265 does not have, in words")
    func h265() {
        let limits = Self.limits { $0.profiles = [.main] }
        #expect(
            failure { try properties(limits: limits) { ($0.codec, $0.profile) = (.hevc, .high) } }
                == .contradiction("H.265 has no profile high; use main or leave it out"))
        #expect(
            failure { try properties(limits: limits) { ($0.codec, $0.entropyMode) = (.hevc, .cavlc) } }
                == .contradiction("H.265 has no CAVLC (H.265 9.3); leave out --entropy"))
        #expect(
            failure { try properties(limits: limits) { ($0.codec, $0.level) = (.hevc, Level("4.2")) } }
                == .contradiction("H.265 has no level 4.2; use another, or --level auto"))
    }

    @Test("gives H.265 fewer bits by default")
    func h265Rate() throws {
        let limits = Self.limits { $0.profiles = [.main] }
        let h264 = try #require(try properties(limits: limits).rateControl.bitRate)
        let h265 = try #require(try properties(limits: limits) { $0.codec = .hevc }.rateControl.bitRate)
        #expect(h265 * 10 == h264 * 6)
    }
}

@Suite struct EncoderErrorTests {
    @Test(
        "every message is one line",
        arguments: [
            .noRenderNode, .nodeNotFound("/dev/dri/renderD128"),
            .nodePermissionDenied(node: "/dev/dri/renderD128", group: "render"),
            .nodePermissionDenied(node: "/dev/dri/renderD128", group: nil),
            .noDriver(node: "/dev/dri/renderD128", detail: "x"), .contradiction("x"), .unsupported("x"),
            .openFailed(encoder: "libx264", detail: "x"), .encodeFailed(encoder: "libx264", detail: "x"),
            .damagedPicture("x"), .noneUsable(["x", "y"]),
        ] as [EncoderError.Kind])
    func messages(kind: EncoderError.Kind) {
        let error = EncoderError(kind)
        #expect(!error.description.isEmpty)
        #expect(!error.description.contains("\n"))
        #expect(!error.reason.contains("\n"))
    }

    @Test("skips a damaged picture, restarts a failed encoder, and ends otherwise")
    func recovery() {
        #expect(EncoderError(.damagedPicture("")).recovery == .skipFrame)
        #expect(EncoderError(.encodeFailed(encoder: "", detail: "")).recovery == .rebuildEncoder)
        #expect(EncoderError(.noRenderNode).recovery == .stop)
        #expect(EncoderError(.openFailed(encoder: "", detail: "")).recovery == .stop)
    }
}
