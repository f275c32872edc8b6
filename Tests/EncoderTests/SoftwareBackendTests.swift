import Bitstream
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder

/// Real libx264 sessions.
@Suite struct SoftwareBackendTests {
    // MARK: Keyframes

    @Test(
        "frames 0, N, 2N … are IDR, whatever cuts the content has",
        arguments: CompressionProperties.Latency.allCases)
    func keyframes(latency: CompressionProperties.Latency) throws {
        let film = try Film(framesPerScene: 7)
        let units = try film.encode(45, with: film.software { $0.latency = latency })
        #expect(units.idrPositions == [0, 10, 20, 30, 40])
    }

    @Test(
        "a libx265 that corrupts its memory gets no second slice",
        arguments: [
            (nil, 32), ("3.5+1-f0c1022b6", 32), ("4.1+191", 32), ("4.2+1-e444744", 1), ("4.10", 1),
            ("5.0", 1),
        ])
    func slices(version: String?, most: Int) throws {
        #expect(X265.maximumSlices(try #require(PictureSize(1280, 720)), version: version) == most)
        #expect(X265.maximumSlices(try #require(PictureSize(128, 96)), version: version) == 1)
    }

    @Test(
        "libx265 gets no level whose smallest block exceeds the picture, which would crash it",
        arguments: [
            ("5.2", 16, 16, true), ("5", 320, 30, true), ("6.2", 30, 320, true), ("4.1", 16, 16, false),
            ("5", 32, 32, false), ("6.2", 34, 62, false), ("5.2", 320, 32, false),
        ])
    func smallAtHighLevel(level: String, width: Int, height: Int, isRefused: Bool) throws {
        let film = try Film(.nv12, width, height)
        func encode() throws -> [AccessUnit] {
            try film.encode(2, with: film.software { ($0.codec, $0.level) = (.hevc, Level(level)) })
        }
        guard isRefused else {
            #expect(try encode().count == 2)
            return
        }
        let reason = "at level \(level), not \(film.format.size); use a --level below 5"
        #expect(throws: EncoderError(.unsupported("libx265 encodes 32x32 and larger \(reason)"))) {
            try encode()
        }
    }

    @Test("libx265 tells its version")
    func version() throws {
        #expect(try #require(X265.loadedVersion).first?.isNumber == true)
    }

    @Test("a forced keyframe is an extra one, and the grid stays")
    func forced() throws {
        let film = try Film()
        let units = try film.encode(
            45, with: film.software(), idrFrames: { $0 % 10 == 0 || [3, 4, 19].contains($0) })
        #expect(units.idrPositions == [0, 3, 4, 10, 19, 20, 30, 40])
    }

    @Test("every IDR has its parameter sets, and nothing else does")
    func parameterSets() throws {
        let film = try Film()
        for unit in try film.encode(25, with: film.software()) {
            #expect(unit.units(.sequenceParameterSet).count == (unit.isIDR ? 1 : 0))
            #expect(unit.units(.pictureParameterSet).count == (unit.isIDR ? 1 : 0))
            #expect(unit.units(.accessUnitDelimiter).isEmpty)
        }
    }

    @Test(
        "the VUI has chroma siting and pixel aspect",
        arguments: [ChromaSiting.left, .center, .topLeft])
    func shape(siting: ChromaSiting) throws {
        let film = try Film()
        for aspect in [PixelAspect(10, 11), PixelAspect(59, 54), nil] {
            let format = try #require(
                PictureFormat(
                    .nv12, size: film.format.size, frameRate: film.format.frameRate, color: film.format.color,
                    chromaSiting: siting, pixelAspect: aspect))
            let other = Film(format: format, framesPerScene: 7)
            let unit = try #require(try other.encode(1, with: other.software()).first)
            let vui = try #require(try unit.sequenceParameterSet().vui_parameters)
            #expect(vui.chroma_sample_loc_type_top_field == Int(siting.rawValue))
            #expect(vui.chroma_sample_loc_type_bottom_field == Int(siting.rawValue))
            switch aspect?.width {
            case 10: #expect(vui.aspect_ratio_idc == 3)
            case 59: #expect(vui.sar_width == 59 && vui.sar_height == 54)
            default: #expect(vui.aspect_ratio_idc <= 1)
            }
            let coded = try #require(
                try other.encode(1, with: other.software { $0.codec = .hevc }).first)
            let place = try #require(coded.units.first { $0.header.nal_unit_type == 33 })
            let bytes = coded.withUnsafeBytes { Array($0[place.bytes]) }
            let set = try H265.SequenceParameterSet(bytes.span.bytes)
            let hevc = try #require(set.vui_parameters)
            #expect(hevc.chroma_sample_loc_type_top_field == Int(siting.rawValue))
            #expect(aspect?.width != 10 || hevc.aspect_ratio_idc == 3)
            #expect(aspect?.width != 59 || hevc.sar_width == 59 && hevc.sar_height == 54)
        }
    }

    // MARK: Order and delay

    @Test("in real time, each picture comes out before the next goes in")
    func realtime() throws {
        let film = try Film()
        let units = try film.encode(30, with: film.software(), onFrame: { #expect($0 == $1) })
        #expect(units.map(\.frameNumber) == Array(0..<30))
    }

    @Test("without B frames output order is input order, however much the encoder looks ahead")
    func order() throws {
        let film = try Film()
        let units = try film.encode(80, with: film.software { $0.latency = .quality })
        #expect(units.map(\.frameNumber) == Array(0..<80))
        #expect(units.map(\.sequence) == (0..<80).map(UInt32.init))
        #expect(units.map(\.timestamp) == (0..<80).map { .start + .milliseconds(40) * $0 })
    }

    @Test("with B frames, every frame comes back, and the grid is unchanged")
    func bFrames() throws {
        // A moving picture: B frames are useless between pictures that have nothing in common.
        let source = try TestSource(
            CaptureRequest(size: PictureSize(320, 240), frameRate: FrameRate(25)), isPaced: false)
        var configuration = CompressionProperties()
        configuration.keyframeInterval = .frames(10)
        configuration.bFrames = 2
        let encoder = try SoftwareBackend.open(
            configuration, source: source.format, inputs: EncoderInputs(codecs: [configuration.codec]),
            regulator: RateRegulator())
        var units: [AccessUnit] = []
        for number in 0..<37 {
            guard case .buffer(let buffer) = try source.nextBuffer() else { break }
            try encoder.encode(buffer, as: number % 10 == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            while let unit = try encoder.nextAccessUnit() { units.append(unit) }
        }
        try encoder.drain()
        while let unit = try encoder.nextAccessUnit() { units.append(unit) }
        #expect(units.map(\.frameNumber).sorted() == Array(0..<37))
        #expect(units.map(\.frameNumber) != Array(0..<37))
        #expect(units.idrPositions == [0, 10, 20, 30])
        #expect([0, 10, 20, 30].map { units[$0].frameNumber } == [0, 10, 20, 30])
        #expect(try TestDecoder.decode(units).count == 37)
    }

    @Test(
        "holds back no more frames than allowed, for any number of B frames and slices",
        arguments: Codec.allCases, [CompressionProperties.Latency.realtime, .quality])
    func frameDelay(codec: Codec, latency: CompressionProperties.Latency) throws {
        let film = try Film(.nv12, 130, 128)
        for limit in [0, 1, 2, 3, 4, 5, 7, 9, 13, 20, 40] {
            for (bFrames, slices) in [(0, 1), (1, 1), (2, 1), (16, 1), (0, 2), (2, 2)]
            where bFrames <= limit {
                let encoder = try film.software {
                    ($0.codec, $0.latency, $0.maximumFrameDelay) = (codec, latency, limit)
                    ($0.bFrames, $0.slices) = (bFrames, slices)
                }
                var held = 0
                let units = try film.encode(
                    60, with: encoder, idrFrames: { $0 % 25 == 0 }, onFrame: { held = max(held, $1 - $0) })
                #expect(held <= limit, "\(bFrames) B frames, \(slices) slices: \(encoder.notes)")
                #expect(units.count == 60)
                // The allowed delay is used.
                if latency == .quality, bFrames == 0, slices == 1, limit <= 20 {
                    #expect(held >= limit - 2 && (limit < 2 || held > 0))
                }
            }
        }
    }

    @Test(
        "for files, holds back no more than it says, and codes several pictures at once and B frames",
        arguments: Codec.allCases)
    func throughput(codec: Codec) throws {
        for rate in [1, 2, 5, 6, 10, 15, 30, 120] {
            let film = try MovingPictures(rate: rate)
            let encoder = try film.open {
                ($0.codec, $0.latency, $0.bFrames) = (codec, .throughput, nil)
                $0.keyframeInterval = .frames(25)
            }
            let note = encoder.notes.first { "\($0)".contains("holds back") }
            let said = note.map { "\($0)".split(separator: " ").compactMap { Int($0) }.first ?? 0 } ?? 0
            let (units, held) = try film.encode(75, with: encoder)
            #expect(held <= said, "\(rate) frames/s")
            if rate >= 10 { #expect(held > (codec == .h264 ? 5 : 1), "\(rate) frames/s") }
            #expect(held <= max(2 * rate, 5), "two seconds at most: \(rate) frames/s")
            #expect(units.map(\.frameNumber).sorted() == Array(0..<75))
            #expect(units.filter(\.isIDR).map(\.frameNumber) == [0, 25, 50])
            #expect(units.longestRunOfBPictures == encoder.bFrames)
            if rate >= 30 { #expect(encoder.bFrames == (codec == .h264 ? 3 : 0)) }
            #expect(encoder.ratePromise != nil)
        }
    }

    @Test("libx264 is not given the bits of frames that it still holds back")
    func heldBackRate() throws {
        let film = try MovingPictures(rate: 10)
        let encoder = try film.open {
            ($0.latency, $0.bFrames) = (.throughput, nil)
            ($0.rateControl.bitRate, $0.rateControl.maximumBitRate) = (500_000, 1_000_000)
        }
        let units = try film.encode(30, with: encoder).units
        // It states its settings as they are when it codes the first picture.
        let settings = String(decoding: units[0].allBytes, as: UTF8.self)
        #expect(settings.contains(" bitrate=500 ") && settings.contains(" vbv_maxrate=500 "))
    }

    @Test(
        "for files with a limit, holds back no more than that", arguments: Codec.allCases,
        [0, 1, 2, 3, 5, 8, 12, 16, 20, 30])
    func throughputWithLimit(codec: Codec, limit: Int) throws {
        let film = try MovingPictures(rate: 30)
        for (bFrames, slices) in [(nil, 1), (limit, 1), (nil, 4), (0, 2)] as [(Int?, Int)] {
            let encoder = try film.open {
                ($0.codec, $0.latency, $0.slices) = (codec, .throughput, slices)
                ($0.bFrames, $0.maximumFrameDelay) = (bFrames.map { min($0, 16) }, limit)
            }
            let (units, held) = try film.encode(60, with: encoder)
            #expect(held <= limit, "\(bFrames ?? -1) B frames, \(slices) slices")
            #expect(units.count == 60)
        }
    }

    @Test(
        "B frames come only where nobody waits, and where the profile has them",
        arguments: CompressionProperties.Latency.allCases)
    func suitableBFrames(latency: CompressionProperties.Latency) throws {
        let film = try MovingPictures(rate: 30)
        let encoder = try film.open { ($0.latency, $0.bFrames) = (latency, nil) }
        #expect(encoder.bFrames == (latency == .realtime ? 0 : 3))
        let baseline = try film.open {
            ($0.latency, $0.bFrames, $0.profile) = (latency, nil, .constrainedBaseline)
        }
        #expect(baseline.bFrames == 0)
        #expect(try film.open { ($0.latency, $0.bFrames) = (latency, 0) }.bFrames == 0)
    }

    /// B frames are useless between pictures that have nothing in common.
    private struct MovingPictures {
        private let source: TestSource

        init(rate: Int) throws {
            source = try TestSource(
                CaptureRequest(size: PictureSize(320, 240), frameRate: FrameRate(rate)), isPaced: false)
        }

        func open(_ change: (inout CompressionProperties) -> Void) throws -> VideoEncoder {
            var configuration = CompressionProperties()
            change(&configuration)
            return try SoftwareBackend.open(
                configuration, source: source.format, inputs: EncoderInputs(codecs: [configuration.codec]),
                regulator: RateRegulator())
        }

        /// - Returns: the access units, and how many frames were in the encoder at most after it had returned what it
        ///   could.
        func encode(
            _ count: Int, with encoder: VideoEncoder
        ) throws -> (units: [AccessUnit], held: Int) {
            var (units, held) = ([AccessUnit](), 0)
            for number in 0..<count {
                guard case .buffer(let buffer) = try source.nextBuffer() else { break }
                try encoder.encode(buffer, as: number % 25 == 0 ? .idr : .automatic, frameNumber: number)
                encoder.releasePicture()
                while let unit = try encoder.nextAccessUnit() { units.append(unit) }
                held = max(held, number + 1 - units.count)
            }
            try encoder.drain()
            while let unit = try encoder.nextAccessUnit() { units.append(unit) }
            return (units, held)
        }
    }

    @Test(
        "libx265 uses fewer B frames or slices than requested if they would be held back too long",
        arguments: [(3, 2, 1, 0, 1), (7, 2, 1, 1, 1), (9, 2, 1, 2, 1), (0, 0, 4, 0, 1), (1, 0, 4, 0, 2)])
    func replaced(delay: Int, bFrames: Int, slices: Int, bFramesLeft: Int, slicesLeft: Int) throws {
        // Two B frames at most between pictures that move, and two rows of blocks.
        let source = try TestSource(
            CaptureRequest(size: PictureSize(320, 120), frameRate: FrameRate(25)), isPaced: false)
        var configuration = CompressionProperties()
        (configuration.codec, configuration.latency) = (.hevc, .quality)
        configuration.maximumFrameDelay = delay
        (configuration.bFrames, configuration.slices) = (bFrames, slices)
        let encoder = try SoftwareBackend.open(
            configuration, source: source.format, inputs: EncoderInputs(codecs: [.hevc]),
            regulator: RateRegulator())
        var units: [AccessUnit] = []
        for number in 0..<30 {
            guard case .buffer(let buffer) = try source.nextBuffer() else { break }
            try encoder.encode(buffer, as: number == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            while let unit = try encoder.nextAccessUnit() { units.append(unit) }
        }
        try encoder.drain()
        while let unit = try encoder.nextAccessUnit() { units.append(unit) }
        let slicesLeft = min(slicesLeft, X265.maximumSlices(try #require(PictureSize(320, 120))))
        #expect(Set(units.map(\.sliceCount)) == [slicesLeft])
        #expect(units.longestRunOfBPictures == bFramesLeft)
        let isReplaced = bFramesLeft < bFrames || slicesLeft < slices
        #expect(encoder.notes.contains { $0.contradictsRequest } == isReplaced, "\(encoder.notes)")
    }

    @Test("draining returns every frame, even if none went in", arguments: [0, 1, 2, 40])
    func drain(count: Int) throws {
        let film = try Film()
        let encoder = try film.software {
            $0.latency = .quality
            $0.bFrames = 3
        }
        #expect(try film.encode(count, with: encoder).map(\.frameNumber).sorted() == Array(0..<count))
    }

    // MARK: Slices

    @Test(
        "a picture is one slice, even with several threads",
        arguments: CompressionProperties.Latency.allCases)
    func oneSlice(latency: CompressionProperties.Latency) throws {
        let film = try Film(.nv12, 640, 480)
        for unit in try film.encode(12, with: film.software { $0.latency = latency }) {
            #expect(unit.sliceCount == 1)
        }
    }

    @Test("every picture has the requested number of slices", arguments: [2, 3, 4, 15])
    func slices(count: Int) throws {
        let film = try Film(.nv12, 320, 240)
        let units = try film.encode(12, with: film.software { $0.slices = count })
        #expect(units.map(\.sliceCount) == Array(repeating: count, count: 12))
        #expect(units.idrPositions == [0, 10])
    }

    @Test(
        "libx265 uses one slice for pictures under three columns of blocks, which would crash it",
        arguments: [CompressionProperties.Latency.realtime, .quality])
    func narrow(latency: CompressionProperties.Latency) throws {
        let most = X265.maximumSlices(try #require(PictureSize(130, 128)))
        for (width, count) in [(64, 1), (128, 1), (130, min(2, most))] {
            let film = try Film(.nv12, width, 128)
            let encoder = try film.software {
                ($0.codec, $0.latency, $0.slices) = (.hevc, latency, 2)
            }
            #expect(encoder.notes.contains { $0.contradictsRequest } == (count == 1))
            let units = try film.encode(30, with: encoder)
            #expect(units.map(\.sliceCount) == Array(repeating: count, count: 30))
        }
    }

    // MARK: Parameter sets

    @Test(
        "the parameter sets have the requested profile",
        arguments: [
            (.constrainedBaseline, 66, "Constrained Baseline"), (.main, 77, "Main"), (.high, 100, "High"),
        ]
            as [(CompressionProperties.Profile, Int, String)])
    func profiles(profile: CompressionProperties.Profile, number: Int, name: String) throws {
        // Real colour pictures: noise would not need the tools of a higher profile.
        let film = try Film(.yuyv, 320, 240)
        let unit = try #require(try film.encode(2, with: film.software { $0.profile = profile }).first)
        let set = try unit.sequenceParameterSet()
        #expect(set.profile_idc == number)
        #expect(set.profileName.hasSuffix(name))
    }

    @Test("uses the requested entropy mode")
    func entropyModes() throws {
        func isCABAC(_ configure: (inout CompressionProperties) -> Void) throws -> Bool {
            let film = try Film()
            let unit = try #require(try film.encode(1, with: film.software(configure)).first)
            return try unit.pictureParameterSet().entropy_coding_mode_flag
        }
        #expect(try isCABAC { $0.entropyMode = .cabac })
        #expect(try !isCABAC { $0.entropyMode = .cavlc })
        #expect(try isCABAC { _ in })
        #expect(try !isCABAC { $0.profile = .constrainedBaseline })
    }

    @Test("uses the requested level, or the lowest that fits")
    func levels() throws {
        func level(_ wanted: String?) throws -> String {
            let film = try Film(.nv12, 640, 480, rate: "30")
            let encoder = try film.software { $0.level = wanted.flatMap { Level($0) } }
            return try #require(try film.encode(1, with: encoder).first).sequenceParameterSet().levelName
        }
        #expect(try level("4.1") == "4.1")
        #expect(try level("5.2") == "5.2")
        #expect(try level(nil) == "3")
    }

    @Test(
        "the VUI has range, matrix, primaries and transfer",
        arguments: [
            ColorEncoding(range: .limited, matrix: .bt601, primaries: 6, transfer: 6),
            ColorEncoding(range: .full, matrix: .bt601, primaries: 1, transfer: 13),
            ColorEncoding(range: .limited, matrix: .bt709),
            ColorEncoding(range: .full, matrix: .bt2020, primaries: 9, transfer: 14),
        ])
    func color(color: ColorEncoding) throws {
        let film = try Film(color: color)
        let unit = try #require(try film.encode(1, with: film.software()).first)
        let vui = try #require(try unit.sequenceParameterSet().vui_parameters)
        #expect(vui.video_full_range_flag == (color.range == .full))
        #expect(vui.matrix_coefficients == Int(color.matrix.rawValue))
        #expect(vui.colour_primaries == Int(color.primaries))
        #expect(vui.transfer_characteristics == Int(color.transfer))
    }

    @Test("the VUI declares a range or matrix that differs from the source's")
    func convertedColor() throws {
        let film = try Film(color: ColorEncoding(range: .full, matrix: .bt601))
        let encoder = try film.software {
            $0.colorRange = .limited
            $0.colorMatrix = .bt709
        }
        let unit = try #require(try film.encode(1, with: encoder).first)
        let vui = try #require(try unit.sequenceParameterSet().vui_parameters)
        #expect(!vui.video_full_range_flag)
        #expect(vui.matrix_coefficients == 1)
        #expect(encoder.color.range == .limited)
    }

    @Test(
        "the VUI has the frame rate, exactly", arguments: ["30", "29.97", "12.5", "0.5", "1/86400", "1000"])
    func frameRate(text: String) throws {
        let film = try Film(rate: text)
        let unit = try #require(try film.encode(1, with: film.software()).first)
        let rate = try #require(try unit.sequenceParameterSet().frameRate)
        #expect(rate.numerator == film.format.frameRate.numerator)
        #expect(rate.denominator == film.format.frameRate.denominator)
    }

    // MARK: Size

    @Test(
        "crops sizes that are odd, or no multiple of 16, to even ones",
        arguments: [(126, 94), (127, 95), (18, 2), (2, 2), (1, 1)])
    func sizes(width: Int, height: Int) throws {
        let film = try Film(.nv12, width, height)
        let units = try film.encode(3, with: film.software())
        let set = try #require(units.first).sequenceParameterSet()
        #expect(set.width == (width + 1) & ~1)
        #expect(set.height == (height + 1) & ~1)
        let pictures = try TestDecoder.decode(units)
        #expect(pictures.map(\.width) == Array(repeating: set.width, count: 3))
        #expect(pictures.map(\.height) == Array(repeating: set.height, count: 3))
    }

    // MARK: Rate control

    @Test(
        "every rate control opens and encodes",
        arguments: RateControl.Mode.allCases)
    func rateControls(mode: RateControl.Mode) throws {
        let film = try Film()
        let units = try film.encode(
            12,
            with: film.software {
                $0.rateControl.mode = mode
                $0.rateControl.quality = 30
                $0.rateControl.quantizer = 30
            })
        #expect(units.count == 12)
    }

    @Test("a quantiser of zero is the profile's best, not lossless coding, which none has")
    func bestQuantizer() throws {
        let film = try Film()
        let units = try film.encode(3, with: film.software { $0.rateControl.quantizer = 0 })
        #expect(try TestDecoder.decode(units).count == 3)
        #expect(try #require(units.first).sequenceParameterSet().profile_idc == 100)
    }

    @Test("refuses what H.264 cannot do before opening anything")
    func contradiction() throws {
        let film = try Film(.nv12, 640, 480)
        #expect(throws: EncoderError.self) { try film.software { $0.level = Level("1") } }
    }
}
