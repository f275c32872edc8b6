import Bitstream
import CTestJPEG
import CamPictures
import CamPlatform
import Glibc
import TestSupport
import Testing

@testable import CamConversion
@testable import Capture
@testable import Encoder

/// Renditions of several sizes and rates, made of one conversion of each picture.
@Suite struct RenditionTests {
    private static let small = PictureSize(80, 32)!

    /// A configuration whose stream depends on nothing but its pictures.
    private func configuration(
        _ codec: Codec = .h264, size: PictureSize? = nil, rate: String? = nil
    ) -> CompressionProperties {
        var configuration = CompressionProperties(codec: codec)
        (configuration.size, configuration.frameRate) = (size, rate.flatMap { FrameRate($0) })
        configuration.rateControl.quantizer = 20
        configuration.keyframeInterval = .frames(4)
        return configuration
    }

    /// The access units of each configuration.
    private func record(
        _ configurations: [CompressionProperties], _ format: PictureFormat,
        treatment: PictureTreatment = PictureTreatment(), frames: Int = 6,
        _ picture: (Int) throws -> PixelBuffer
    ) throws -> [[AccessUnit]] {
        var request = EncoderRequest()
        request.preference = .software
        let session = try CompressionSession(
            BackendEncoderProvider.providers(
                request, configurations: configurations, source: format, treatment: treatment),
            format: format)
        var units = configurations.map { _ in [AccessUnit]() }
        for number in 0..<frames {
            try session.encode(picture(number)) { units[$0.rendition].append($0) }
        }
        try session.finish { units[$0.rendition].append($0) }
        return units
    }

    private func bytes(_ units: [AccessUnit]) -> [UInt8] { units.flatMap(\.allBytes) }

    /// Compares two renditions with recordings of their own.
    private func compare(
        _ format: PictureFormat, _ treatment: PictureTreatment, _ picture: (Int) throws -> PixelBuffer
    ) throws {
        let both = try record(
            [configuration(), configuration(size: Self.small)], format, treatment: treatment, picture)
        let alone = try record([configuration()], format, treatment: treatment, picture)
        var scaled = treatment
        scaled.framing.scale = Self.small
        let smallAlone = try record([configuration()], format, treatment: scaled, picture)
        // Not the arrays: describing how they differ would take minutes.
        let areSame = (bytes(both[0]) == bytes(alone[0]), bytes(both[1]) == bytes(smallAlone[0]))
        #expect(areSame.0, "\(format.pixelFormat), full size")
        #expect(areSame.1, "\(format.pixelFormat), scaled")
        #expect(both[1].first?.isIDR == true && both[1].count == 6)
    }

    @Test(
        "each is byte for byte what a recording of its own would be",
        arguments: [
            Framing(), Framing(crop: "120x40+24+4"), Framing(.left),
            Framing(crop: "96x48+8+8", .upsideDown, .horizontal),
        ])
    func equality(framing: Framing) throws {
        for pixelFormat in PixelFormat.raw {
            let format = pixelFormat.layout(160, 64)
            var treatment = PictureTreatment()
            treatment.framing = framing
            treatment.privacy = PrivacyMask(rectangles: [try #require(CropRectangle("32x16+16+8"))])
            try compare(format, treatment) { number in
                try picture(
                    format, format.minimumLengths.map { noise($0, seed: UInt64(number + 1)) },
                    sequence: UInt32(number), timestamp: .start + .milliseconds(40) * number)
            }
        }
    }

    @Test("so is each of a camera's JPEG")
    func jpeg() throws {
        let size = try #require(PictureSize(160, 64))
        let format = try #require(
            PictureFormat(.mjpeg, size: size, frameRate: FrameRate(25)!, color: .full601))
        try compare(format, PictureTreatment()) { number in
            let options = test_jpeg_options(
                width: 160, height: 64, components: 3, horizontal: 2, vertical: 1, restart_rows: 0,
                progressive: 0, rgb: 0)
            var count = 0
            let samples = noise(160 * 64 * 3, seed: UInt64(number + 1))
            let encoded = try #require(test_jpeg_encode(samples, options, &count))
            defer { free(encoded) }
            return try picture(
                format, [Array(UnsafeBufferPointer(start: encoded, count: count))],
                sequence: UInt32(number), timestamp: .start + .milliseconds(40) * number)
        }
    }

    @Test("text is drawn into each at its own size, with the number of the source's picture")
    func text() throws {
        let format = PixelFormat.yuyv.layout(320, 160)
        var treatment = PictureTreatment()
        treatment.overlay = try Overlay(OverlayText("{frame}"))
        try compare(format, treatment) { number in
            try picture(
                format, format.minimumLengths.map { [UInt8](repeating: 90, count: $0) },
                sequence: UInt32(number * 3), timestamp: .start + .milliseconds(40) * number)
        }
    }

    @Test("a lower rate takes the pictures nearest to its moments, and says so in its stream")
    func frameRate() throws {
        let film = try Film(rate: "30")
        let units = try record(
            [configuration(), configuration(rate: "5"), configuration(size: Self.small, rate: "7.5")],
            film.format,
            frames: 60
        ) { number in
            try picture(
                film.format, film.format.minimumLengths.map { noise($0, seed: UInt64(number + 1)) },
                sequence: UInt32(number), timestamp: .start + .nanoseconds(Int64(number) * 1_000_000_000 / 30)
            )
        }
        #expect(units[0].map(\.sequence) == (0..<60).map(UInt32.init))
        #expect(units[1].map(\.sequence) == (0..<10).map { UInt32($0 * 6) })
        #expect(units[2].map(\.sequence) == (0..<15).map { UInt32($0 * 4) })
        #expect(units.map { $0.first?.statedFrameRate?.framesPerSecond } == [30, 5, 7.5])
        #expect(units.map { $0.map(\.frameNumber) } == [Array(0..<60), Array(0..<10), Array(0..<15)])
        #expect(units.map(\.idrPositions) == [60, 10, 15].map { Array(stride(from: 0, to: $0, by: 4)) })
    }

    @Test("a picture that no rendition takes is not one that none could use")
    func allSlow() throws {
        let film = try Film(rate: "1000")
        var treatment = PictureTreatment()
        treatment.leavesThumbnails = true
        let session = try CompressionSession(
            BackendEncoderProvider.providers(
                EncoderRequest(),
                configurations: [configuration(rate: "1"), configuration(size: Self.small, rate: "2")],
                source: film.format, treatment: treatment),
            format: film.format)
        var (counts, thumbnails) = ([0, 0], 0)
        session.onConversion = { [unowned session] _ in if session.thumbnail != nil { thumbnails += 1 } }
        for number in 0..<2001 {
            let verdict = try session.encode(
                picture(
                    film.format, film.format.minimumLengths.map { [UInt8](repeating: 1, count: $0) },
                    timestamp: .start + .milliseconds(number))
            ) { counts[$0.rendition] += 1 }
            if case .taken = verdict { continue }
            Issue.record("picture \(number): \(verdict)")
            break
        }
        try session.finish { counts[$0.rendition] += 1 }
        #expect(counts == [3, 5] && thumbnails == 5)
    }

    @Test("a damaged picture is left out of all")
    func damage() throws {
        let format = try #require(
            PictureFormat(
                .mjpeg, size: PictureSize(160, 64)!, frameRate: FrameRate(25)!, color: .full601))
        let session = try CompressionSession(
            BackendEncoderProvider.providers(
                EncoderRequest(), configurations: [configuration(), configuration(size: Self.small)],
                source: format),
            format: format)
        let verdict = try session.encode(try picture(format, [[0xFF, 0xD8, 1, 2, 3]])) { _ in
            Issue.record("a unit")
        }
        guard case .damaged = verdict else { return #expect(Bool(false), "\(verdict)") }
        try session.finish { _ in Issue.record("a unit") }
        for rendition in session.renditions {
            #expect(
                rendition.counters[.encoded] == 0 && rendition.counters[.unused] == 0
                    && rendition.error == nil)
        }
    }

    @Test("another source is converted anew, and each stream goes on with an IDR")
    func otherSource() throws {
        let (first, second) = (PixelFormat.yuyv.layout(160, 64), PixelFormat.nv12.layout(320, 128))
        let units = try record([configuration(), configuration(size: Self.small)], first) { number in
            let format = number < 3 ? first : second
            return try picture(
                format, format.minimumLengths.map { noise($0, seed: UInt64(number + 1)) },
                sequence: UInt32(number), timestamp: .start + .milliseconds(40) * number)
        }
        #expect(units.map(\.idrPositions) == [[0, 3, 4], [0, 3, 4]])
        // The pictures' sizes are in the sequence parameter sets.
        let sets = try units.map { try ($0[0].sequenceParameterSet(), $0[3].sequenceParameterSet()) }
        #expect(sets[0].0 != sets[0].1 && sets[1].0 == sets[1].1)
    }

    @Test("the camera's own H.264 has no renditions")
    func passthrough() throws {
        let format = try #require(
            PictureFormat(
                .h264, size: PictureSize(160, 64)!, frameRate: FrameRate(25)!, color: .full601))
        for others in [[configuration(size: Self.small)], [configuration(), configuration(rate: "5")]] {
            #expect {
                try CompressionSession(
                    BackendEncoderProvider.providers(
                        EncoderRequest(), configurations: others, source: format),
                    format: format)
            } throws: {
                "\($0)".contains("one size, frame rate and bit rate")
            }
        }
    }
}
