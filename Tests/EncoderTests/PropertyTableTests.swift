import Bitstream
import Foundation
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder

/// An encoder that is tested for each property: libx264, libx265, and both codecs of the driver that
/// CAMREC_PROPERTIES_OF names, as Tests/Lab/host/properties.sh does.
struct EncoderUnderTest: Sendable, CustomTestStringConvertible {
    let codec: Codec
    /// Nil for software.
    let driver: String?

    static let all =
        Codec.allCases.map { EncoderUnderTest(codec: $0, driver: nil) }
        + Codec.allCases.compactMap { codec in
            ProcessInfo.processInfo.environment["CAMREC_PROPERTIES_OF"].map {
                EncoderUnderTest(codec: codec, driver: $0)
            }
        }

    var testDescription: String { driver.map { "\(codec) by \($0)" } ?? SoftwareBackend.name(codec) }

    /// Opens an encoder for a request and codes pictures of noise. The keyframes are those of the policy.
    func encode(
        _ count: Int, of film: Film, _ configure: (inout CompressionProperties) -> Void
    ) throws -> Outcome {
        var configuration = CompressionProperties()
        configuration.codec = codec
        configure(&configuration)
        let trace = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: trace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: trace) }
        if driver != nil { setenv("LIBVA_TRACE", trace.appending(path: "va").path, 1) }
        var outcome = Outcome()
        do {
            var request = EncoderRequest()
            request.preference = driver == nil ? .software : .vaapi
            let encoder = try OpenedEncoder.open(
                request.backends,
                EncoderAttempt(
                    configuration: configuration, source: film.format, inputs: EncoderInputs(codecs: [codec]),
                    regulator: RateRegulator())
            ).encoder
            #expect((encoder.details.driver != nil) == (driver != nil))
            var policy = KeyframePolicy(interval: configuration.keyframeInterval)
            let duration = film.format.frameRate.frameDuration
            outcome.notes = encoder.notes
            outcome.units = try film.encode(
                count, with: encoder,
                idrFrames: { number in
                    let time = Instant.start + duration * number
                    let kind = policy.kind(at: time, frameDuration: duration)
                    policy.advance(kind, at: time)
                    return kind == .idr
                }, onFrame: { outcome.held = max(outcome.held, $1 - $0) })
        }
        // The display is closed, and the trace whole.
        for file in try FileManager.default.contentsOfDirectory(at: trace, includingPropertiesForKeys: nil) {
            outcome.trace += try String(contentsOf: file, encoding: .utf8)
        }
        #expect(outcome.units.count == count)
        return outcome
    }

    /// The result of a request.
    struct Outcome {
        var units: [AccessUnit] = []
        var notes: [EncoderNote] = []
        /// The most pictures that had gone in but not come out.
        var held = 0
        /// The parameters passed to libva.
        var trace = ""

        /// Whether the user was told that the request is not met.
        var isReplaced: Bool { notes.contains { $0.contradictsRequest } }
        var bits: Int { units.reduce(0) { $0 + $1.count * 8 } }

        func fullestWindow(_ frames: Int) -> Int {
            let sizes = units.map { $0.count * 8 }
            return sizes.indices.map { sizes[$0..<min($0 + frames, sizes.count)].reduce(0, +) }.max() ?? 0
        }

        /// The values of a field that the driver received.
        func told(_ field: String) -> [Int] {
            trace.matches(of: try! Regex("\\b\(field) = (-?\\d+)", as: (Substring, Substring).self))
                .compactMap { Int($0.output.1) }
        }

        /// From the sequence and picture parameter sets of the first picture.
        func header(_ codec: Codec) throws -> Header {
            let first = try #require(units.first)
            switch codec {
            case .h264:
                let set = try first.sequenceParameterSet()
                let vui = try #require(set.vui_parameters)
                return Header(
                    profile: set.profileName, level: set.levelName, width: set.width, height: set.height,
                    frameRate: set.frameRate, isFullRange: vui.video_full_range_flag,
                    matrix: vui.matrix_coefficients,
                    isCABAC: try first.pictureParameterSet().entropy_coding_mode_flag)
            case .hevc:
                let bytes: [UInt8] = try #require(
                    first.withUnsafeBytes { bytes in
                        first.units.first { $0.header.nal_unit_type == 33 }.map { Array(bytes[$0.bytes]) }
                    })
                let set = try H265.SequenceParameterSet(bytes.span.bytes)
                let vui = try #require(set.vui_parameters)
                return Header(
                    profile: set.profileName, level: set.levelName, width: set.width, height: set.height,
                    frameRate: set.frameRate, isFullRange: vui.video_full_range_flag,
                    matrix: vui.matrix_coeffs, isCABAC: true)
            }
        }
    }

    struct Header {
        let profile: String
        let level: String
        let width: Int
        let height: Int
        let frameRate: FrameRate?
        let isFullRange: Bool
        let matrix: Int?
        let isCABAC: Bool
    }
}

/// Requests each session property from each encoder and measures the result: in the coded stream, in the
/// frames held back, or, for a driver's rates, because the emulated GPU has no rate control, in the
/// parameters passed to the driver. An encoder must reject or replace what it does not have, and say so:
/// every property has an effect.
@Suite(.serialized) struct PropertyTableTests {
    /// A property, a requested value, and whether the result has it.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Codecs that do not have it and must reject it.
        var lacking: [Codec] = []
        let check: @Sendable (EncoderUnderTest) throws -> Void

        init(
            _ name: String, lacking: [Codec] = [],
            _ check: @escaping @Sendable (EncoderUnderTest) throws -> Void
        ) {
            testDescription = name
            self.lacking = lacking
            self.check = check
        }
    }

    static let rows: [Row] =
        headerRows + structureRows + delayRows + qualityRows + rateRows

    // MARK: In the parameter sets

    // One constant a setting: Swift 6.2 gives up on their sum as one expression.
    private static let headerRows: [Row] =
        profileRows + levelRows + entropyModeRows + sizeRows + frameRateRows + colorRows

    private static let profileRows: [Row] = [
        (CompressionProperties.Profile.constrainedBaseline, "Constrained Baseline"), (.main, "Main"),
        (.high, "High"),
    ].map { profile, name in
        Row("profile \(profile)", lacking: profile == .main ? [] : [.hevc]) { encoder in
            let header = try encoder.encode(2, of: Film(.nv12, 320, 240)) { $0.profile = profile }
                .header(encoder.codec)
            #expect(header.profile.hasSuffix(name))
        }
    }

    private static let levelRows: [Row] = ["4.1", "5.2"].map { level in
        Row("level \(level)") { encoder in
            let outcome = try encoder.encode(1, of: Film(.nv12, 320, 240)) { $0.level = Level(level) }
            #expect(try outcome.header(encoder.codec).level == level)
        }
    }

    private static let entropyModeRows: [Row] = [CompressionProperties.EntropyMode.cabac, .cavlc].map {
        mode in
        Row("entropy mode \(mode)", lacking: mode == .cavlc ? [.hevc] : []) { encoder in
            let outcome = try encoder.encode(1, of: Film(.nv12, 320, 240)) { $0.entropyMode = mode }
            #expect(try outcome.header(encoder.codec).isCABAC == (mode == .cabac))
        }
    }

    private static let sizeRows: [Row] = [(320, 240), (322, 246), (637, 359)].map { width, height in
        Row("size \(width)x\(height)") { encoder in
            let outcome = try encoder.encode(1, of: Film(.nv12, width, height)) { _ in }
            let header = try outcome.header(encoder.codec)
            #expect((header.width, header.height) == ((width + 1) & ~1, (height + 1) & ~1))
            #expect(outcome.notes.isEmpty == (width % 2 == 0))
        }
    }

    private static let frameRateRows: [Row] = ["29.97", "12.5"].map { rate in
        Row("frame rate \(rate)") { encoder in
            let film = try Film(.nv12, 320, 240, rate: rate)
            let found = try encoder.encode(1, of: film) { _ in }.header(encoder.codec).frameRate
            #expect(found?.numerator == film.format.frameRate.numerator)
            #expect(found?.denominator == film.format.frameRate.denominator)
        }
    }

    private static let colorRows: [Row] = [
        (ColorEncoding.Range.full, ColorEncoding.Matrix.bt709), (.limited, .bt2020),
    ].map { range, matrix in
        Row("range \(range) and matrix \(matrix)") { encoder in
            let header = try encoder.encode(1, of: Film(.nv12, 320, 240)) {
                ($0.colorRange, $0.colorMatrix) = (range, matrix)
            }.header(encoder.codec)
            #expect(header.isFullRange == (range == .full))
            #expect(header.matrix == Int(matrix.rawValue))
        }
    }

    // MARK: In the order and parts of pictures

    private static let structureRows: [Row] =
        [KeyframeInterval.frames(7), .seconds(0.5), .frames(1)].map { interval in
            Row("keyframe interval \(interval)") { encoder in
                let outcome = try encoder.encode(30, of: Film(.nv12, 320, 240)) {
                    $0.keyframeInterval = interval
                }
                // At 25 frames a second, half a second ends with frame 13, or a quarter of a frame earlier.
                let step = interval.frames ?? 13
                #expect(outcome.units.idrPositions == Array(stride(from: 0, to: 30, by: step)))
            }
        }
        + [1, 2, 3].map { count in
            Row("\(count) B frames") { encoder in
                let outcome = try encoder.encode(40, of: Film(.nv12, 320, 240, framesPerScene: 40)) {
                    ($0.bFrames, $0.latency) = (count, .quality)
                }
                #expect(outcome.units.longestRunOfBPictures == (outcome.isReplaced ? 0 : count))
            }
        }
        + [1, 2, 3].map { count in
            Row("\(count) slices") { encoder in
                let outcome = try encoder.encode(5, of: Film(.nv12, 320, 240)) { $0.slices = count }
                let found = Set(outcome.units.map(\.sliceCount))
                let isTold = outcome.notes.contains { $0.description.contains("slice") }
                #expect(found == [count] || isTold, "\(found)")
                guard encoder.driver == nil else { return }
                // Drivers have rows; among libraries, a new libx265 codes one slice.
                let most =
                    encoder.codec == .h264 ? 32 : X265.maximumSlices(try #require(PictureSize(320, 240)))
                #expect(outcome.isReplaced == (count > most))
            }
        }

    // MARK: In the frames held back

    private static let delayRows: [Row] =
        [0, 1, 2, 6, 12].map { limit in
            Row("at most \(limit) frames of delay") { encoder in
                let outcome = try encoder.encode(40, of: Film(.nv12, 320, 240)) {
                    ($0.latency, $0.maximumFrameDelay) = (.quality, limit)
                }
                #expect(outcome.held <= limit)
                // Drivers hold one at most; libx265 none if one is allowed, and keeps one in reserve.
                let least = encoder.driver == nil ? max(0, limit - 1) : min(1, limit)
                #expect(outcome.held >= least)
            }
        }
        + [CompressionProperties.Latency.realtime, .quality].map { latency in
            Row("latency \(latency)") { encoder in
                let outcome = try encoder.encode(60, of: Film(.nv12, 320, 240)) { $0.latency = latency }
                #expect((outcome.held > 0) == (latency == .quality))
            }
        }

    // MARK: In the number of bits

    private static let qualityRows: [Row] = [
        Row("quantiser") { encoder in
            let sizes = try [20, 35].map { quantizer in
                let outcome = try encoder.encode(10, of: Film(.nv12, 320, 240, framesPerScene: 1)) {
                    $0.rateControl.quantizer = quantizer
                }
                if encoder.driver != nil, !outcome.isReplaced {
                    // The picture's quantiser is 26 plus the differences in the sets and the slice, or stated
                    // directly.
                    let start = Set(outcome.told("pic_init_qp"))
                    #expect(
                        start == [quantizer]
                            || outcome.told("slice_qp_delta").contains { $0 + 26 == quantizer },
                        "\(start)")
                }
                return outcome.bits
            }
            if encoder.driver == nil { #expect(sizes[1] * 3 < sizes[0] * 2) }
        }
    ]

    // MARK: Rates

    private static let rateRows: [Row] =
        [3_000_000, 6_000_000].map { rate in
            Row("average rate \(rate)") { encoder in
                let outcome = try encoder.encode(75, of: Film(.nv12, 320, 240, framesPerScene: 1)) {
                    $0.rateControl.mode = .cbr
                    $0.rateControl.bitRate = rate
                }
                if encoder.driver == nil {
                    #expect(abs(Double(outcome.bits) / 3 / Double(rate) - 1) < 0.25, "\(outcome.bits / 3)")
                } else {
                    #expect(outcome.isReplaced || outcome.told("bits_per_second").contains(rate))
                }
            }
        }
        + [
            Row("maximum rate and its window") { encoder in
                var bursts: [Int] = []
                // Nothing moves for three seconds, so that all possible room is available afterwards.
                var film = try Film(.nv12, 320, 240, framesPerScene: 1)
                film.stillFrames = 75
                for window in [0.5, 2] {
                    let outcome = try encoder.encode(130, of: film) {
                        $0.rateControl.mode = .vbr
                        ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (3_000_000, 6_000_000)
                        $0.rateControl.window = window
                    }
                    if encoder.driver == nil {
                        #expect(Double(outcome.fullestWindow(Int(window * 25))) <= 6_120_000 * window)
                        bursts.append(outcome.fullestWindow(10))
                    } else {
                        // The room that the window leaves above the session's rate.
                        #expect(!outcome.isReplaced)
                        let rate = try #require(outcome.told("bits_per_second").max())
                        #expect((3_000_000...6_000_000).contains(rate))
                        let size = try #require(outcome.told("buffer_size").max())
                        #expect(abs(Double(size) / (Double(6_000_000 - rate) * window) - 1) < 0.05, "\(size)")
                        bursts.append(size)
                    }
                }
                // A longer window allows more at once.
                #expect(bursts[1] * 2 > bursts[0] * 3, "\(bursts)")
            }
        ]

    @Test(
        "each property comes out as requested, or is refused or replaced", arguments: rows,
        EncoderUnderTest.all)
    func property(row: Row, encoder: EncoderUnderTest) throws {
        guard row.lacking.contains(encoder.codec) else { return try row.check(encoder) }
        #expect(throws: EncoderError.self) { try row.check(encoder) }
    }

    @Test(
        "each rate control has its own bound or quality, or is replaced",
        arguments: RateControl.Mode.allCases, EncoderUnderTest.all)
    func mode(mode: RateControl.Mode, encoder: EncoderUnderTest) throws {
        func outcome(quality: Int, maximum: Int) throws -> EncoderUnderTest.Outcome {
            try encoder.encode(50, of: Film(.nv12, 320, 240, framesPerScene: 1)) {
                $0.rateControl.mode = mode
                switch mode {
                case .cbr: $0.rateControl.bitRate = maximum
                case .vbr: ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (maximum / 2, maximum)
                case .cqp: $0.rateControl.quantizer = quality
                case .icq: $0.rateControl.quality = quality
                case .qvbr: ($0.rateControl.quality, $0.rateControl.maximumBitRate) = (quality, maximum)
                }
            }
        }
        let (fine, coarse) = (
            try outcome(quality: 20, maximum: 8_000_000), try outcome(quality: 35, maximum: 4_000_000)
        )
        if encoder.driver == nil {
            #expect(!fine.isReplaced && coarse.bits * 4 < fine.bits * 3, "\(fine.bits) \(coarse.bits)")
        } else if !fine.isReplaced {
            // The driver's rate differs, and depends on its mode.
            let fields =
                mode == .cbr || mode == .vbr
                ? ["bits_per_second"] : ["pic_init_qp", "slice_qp_delta", "quality_factor"]
            #expect(fields.contains { fine.told($0) != coarse.told($0) })
        } else {
            #expect(encoder.driver != nil && mode != .cqp && mode != .cbr, "\(fine.notes)")
        }
    }
}
