import Bitstream

/// How well a kind of encoder holds a rate. Measured; `scripts/bench rate` shows the result.
struct RateTraits: Sendable, Hashable {
    /// Bits a pixel of a keyframe of noise at the coarsest quantiser that the encoder goes to, without headers.
    var noiseBitsPerPixel: Double
    /// The share of its buffer that is hidden from the encoder, because it overruns it.
    var hiddenShare = 0.0
    /// The same, in keyframes of noise.
    var hiddenKeyframes = 0.0
    /// Where the bucket's rate lies between the average and the maximum of VBR: 0 is the average, which then holds
    /// for any content; more lets the encoder's own rate control spend later what it saved.
    var variableRatePosition = 0.0
    /// The bucket's rate as a share of the maximum if quality is constant.
    var qualityRateShare: Double

    /// libx264 obeys its buffer exactly, and drops coefficients beyond the quantiser 51.
    static let x264 = RateTraits(noiseBitsPerPixel: 0.22, qualityRateShare: 5.0 / 6)

    /// libx265 codes rows in parallel and learns too late how large the previous rows became. It follows
    /// averages only loosely: for tens of frames after each keyframe it does not correct them.
    static let x265 = RateTraits(
        noiseBitsPerPixel: 1, hiddenShare: 0.1, hiddenKeyframes: 0.5, qualityRateShare: 2.0 / 3)

    /// Bits of a keyframe of noise with its parameter sets and headers: the encoder cannot produce less.
    func noiseKeyframe(area: Int) -> Double { noiseBitsPerPixel * Double(area) + 2000 }

    /// Drivers: noise as libx264 and libx265 code it at the quantiser 51, the highest of both standards. How
    /// hardware treats its buffer is up to the driver; its output is measured.
    static func driver(_ codec: Codec) -> RateTraits {
        RateTraits(
            noiseBitsPerPixel: codec == .h264 ? 1.7 : 1.5, variableRatePosition: 0.5,
            qualityRateShare: 5.0 / 6)
    }
}
