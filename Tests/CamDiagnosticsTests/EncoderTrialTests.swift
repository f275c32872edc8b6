import Bitstream
@testable import CamDiagnostics
import CamPictures
import Testing

/// The doctor's trial of encoders.
@Suite struct EncoderTrialTests {
    private func trial(_ codec: Codec, node: String? = nil) throws -> EncoderTrial {
        let size = try #require(PictureSize(320, 240)), rate = try #require(FrameRate(15))
        return EncoderTrial.run(node: node, codec: codec, size: size, frameRate: rate, seconds: 1)
    }

    @Test(
        "software returns nearly what it was given, decodable to the last picture",
        arguments: Codec.allCases)
    func software(codec: Codec) throws {
        let trial = try trial(codec)
        let result = try #require(trial.result, "\(trial.problem ?? "")")
        #expect(result.pictures == 15)
        #expect(result.decoded == 15)
        #expect(try #require(result.psnr) > 30)
        #expect(result.wantedBitRate == 4_000_000)
        #expect(result.maximumBitRate == 16_000_000)
        #expect((result.bitRate...16_320_000).contains(result.peakBitRate))
        #expect(result.holdsRates)
        #expect(result.bitRate > 0 && result.medianLatency > 0)
        #expect(result.medianLatency <= result.percentile99Latency)
        #expect(trial.text(for: 1).contains("\(codec) on software: "))
        #expect(trial.text(for: 1).contains("\n  fit for 1 frames/s: "))
        #expect(trial.text(for: 1_000_000).contains("\n  too slow for 1000000 frames/s: "))
    }

    @Test("reports an encoder that does not open on one line, with the reason")
    func absent() throws {
        let trial = try trial(.h264, node: "/dev/dri/renderD191")
        #expect(trial.result == nil)
        #expect(trial.text(for: 30).hasPrefix("H.264 on /dev/dri/renderD191: "))
        #expect(trial.problem?.contains("no such render node") == true)
    }
}
