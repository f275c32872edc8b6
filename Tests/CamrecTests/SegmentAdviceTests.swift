import CamCommandLine
import Encoder
import Testing

@testable import camrec

/// Lengths that depend on a stream's rate and keyframes.
@Suite struct SegmentAdviceTests {
    private func advice(
        _ options: String..., onMotion: Bool = false, rate: SegmentAdvice.Rate = .average(5.5e6),
        keyframes: Double = 1
    ) throws -> SegmentAdvice {
        SegmentAdvice(
            segments: try SegmentOptions.parse(options), onMotion: onMotion, rate: rate,
            keyframeDistance: keyframes)
    }

    @Test("warns how much memory a ring takes, or how little it holds")
    func ring() throws {
        let fits = try advice("--ring", "30s", "--post", "30s")
        #expect(fits.notes == ["ring: 30s, some 20 MiB in memory"] && fits.warnings.isEmpty)
        let day = try advice("--ring", "24h")
        #expect(day.notes.isEmpty)
        #expect(
            day.warnings == [
                "--ring 24h does not fit: its 256 MiB of memory hold about 7 min at 5.5 Mbit/s; lower --bitrate for more"
            ])
    }

    @Test("a ring of bounded quality holds at least what the bound allows")
    func boundedRing() throws {
        let fits = try advice("--ring", "30s", rate: .atMost(5.5e6))
        #expect(fits.notes == ["ring: 30s, at most 20 MiB in memory"] && fits.warnings.isEmpty)
        let warnings = try advice("--ring", "1h", rate: .atMost(5.5e6)).warnings
        #expect(
            warnings == [
                "--ring 1h may not fit: at the 5.5 Mbit/s of --max-bitrate its 256 MiB of memory hold 7 min; lower "
                    + "--max-bitrate to be sure"
            ])
    }

    @Test("a ring without a bounded rate promises no time", arguments: ["1s", "30s", "90m"])
    func unknownRing(time: String) throws {
        let advice = try advice("--ring", time, rate: .unknown)
        let warning = try #require(advice.warnings.first)
        #expect(advice.notes.isEmpty && advice.warnings.count == 1)
        #expect(warning.hasPrefix("--ring \(time) may not fit: it has 256 MiB of memory, "))
        #expect(!warning.contains("bit/s") && warning.hasSuffix("give less, or a --bitrate"))
    }

    @Test(
        "warns of keyframes far apart for a size, even without a known rate",
        arguments: [SegmentAdvice.Rate.unknown, .atMost(4e6)])
    func sizeOfUnknownRate(rate: SegmentAdvice.Rate) throws {
        #expect(try advice("--segment", "8k", rate: rate, keyframes: 2).warnings.isEmpty)
        #expect(
            try advice("--segment", "8k", rate: rate, keyframes: 33).warnings == [
                "--segment: a file ends with the first keyframe after its size, and these are 33 s apart; lower "
                    + "--keyframe-interval"
            ])
    }

    @Test("uses the rate that the encoder holds, not a guess")
    func rates() {
        #expect(SegmentAdvice.Rate(.constantBitRate(rate: 9, window: 1)) == .average(9))
        #expect(SegmentAdvice.Rate(.variableBitRate(rate: 9, maximum: 20, window: 1)) == .average(9))
        #expect(
            SegmentAdvice.Rate(.qualityVariableBitRate(quality: 20, rate: 9, maximum: 20, window: 1))
                == .atMost(20))
        #expect(SegmentAdvice.Rate(.constantQuantizer(20)) == .unknown)
        #expect(SegmentAdvice.Rate(.constantQuality(20)) == .unknown)
        #expect(SegmentAdvice.Rate(nil) == .unknown)
    }

    @Test(
        "prints a time as it is given",
        arguments: ["24h", "90m", "1m", "90s", "1s", "1500ms", "500ms", "100ms", "36h"])
    func times(text: String) throws { #expect(try TimeSpan.read(text).description == text) }

    @Test("warns of --post that ends between two keyframes")
    func post() throws {
        #expect(try advice("--ring", "30s", "--post", "1s", keyframes: 1).warnings.isEmpty)
        let warning = try #require(try advice("--ring", "30s", "--post", "1s", keyframes: 10).warnings.first)
        #expect(warning.hasPrefix("--post 1s becomes up to 11 s: a file ends before a keyframe, "))
        // A file lasts as long as the event that it records.
        let motion = try advice("--ring", "30s", "--post", "500ms", onMotion: true, keyframes: 1)
        #expect(
            motion.warnings == [
                "--post 500ms becomes up to 3 s: an event ends after 2 s without motion, its file before a keyframe, and "
                    + "these are 1 s apart; lower --keyframe-interval"
            ])
    }

    @Test("warns of a size below a group of pictures, if the rate is known")
    func size() throws {
        let warning = try #require(try advice("--segment", "8k", keyframes: 2).warnings.first)
        #expect(warning.contains("files become some 1 MB") && warning.contains("are 2 s apart"))
        #expect(try advice("--segment", "8k", rate: .unknown, keyframes: 2).warnings.isEmpty)
        #expect(try advice("--segment", "500M").warnings.isEmpty)
        #expect(try advice("--segment", "10m", keyframes: 600).warnings.isEmpty)
    }
}
