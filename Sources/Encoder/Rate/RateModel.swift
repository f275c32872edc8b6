import CamPlatform
import Bitstream

/// The limits that a rate control promises, and the bucket that enforces them.
///
/// A bucket of rate r and size b lets a window W carry r · W + b bits, so this sum must equal the maximum, R
/// · W. If b has no room for a keyframe of noise at the coarsest quantizer, the window carries r · W and that
/// keyframe.
struct RateModel: Sendable, Hashable {
    /// Nil if quality alone decides.
    let bucket: LeakyBucket?
    /// The bucket passed to the encoder; smaller than `bucket` for encoders that overrun their buffer.
    private(set) var encoderBucket: LeakyBucket?
    /// The part of each rate that messages besides the encoder's output take, in bits a second.
    private(set) var messageRate = 0.0
    let promise: RatePromise
    /// Why noise exceeds the maximum, and which maximum would hold; nil if the maximum holds for any content.
    let shortfall: String?

    /// The share by which CBR may exceed its rate.
    private static let constantRateAllowance = 0.1

    /// - Parameters:
    ///   - area: the number of pixels in a picture.
    ///   - framesPerSecond: the nominal frame rate.
    ///   - framesInGroup: the number of frames from one regular keyframe to the next.
    init(
        _ control: RateControl, request: RateControlRequest, area: Int, framesPerSecond: Double,
        framesInGroup: Int, traits: RateTraits
    ) {
        let isAverageWanted = request.bitRate != nil
        guard let (rate, maximum, window) = Self.rates(control, traits) else {
            (bucket, encoderBucket, shortfall) = (nil, nil, nil)
            promise = RatePromise(
                average: nil, maximum: nil, window: request.window, bitsInWindow: nil, bitsAboveAverage: nil,
                isAverageWanted: false, isMaximumWanted: false)
            return
        }
        let noise = Noise(
            keyframe: traits.noiseKeyframe(area: area),
            keyframesPerSecond: framesPerSecond / Double(max(1, framesInGroup)),
            framesPerSecond: framesPerSecond)
        let room = (maximum - rate) * window
        let isTight = !noise.fits(rate: rate, maximum: maximum, window: window)
        let size = isTight ? max(room, noise.least(above: rate, in: window)) : room
        let bucket = LeakyBucket(rate: rate, size: size)
        let hidden = max(size * traits.hiddenShare, min(size / 2, noise.keyframe * traits.hiddenKeyframes))
        self.bucket = bucket
        encoderBucket = LeakyBucket(rate: rate, size: size - hidden)
        let isConstant = control.mode == .cbr
        promise = RatePromise(
            average: control.bitRate, maximum: Int(isConstant ? rate : maximum), window: window,
            bitsInWindow: Int(
                max(maximum * window, rate * window + size) * (1 + RatePromise.windowTolerance)),
            bitsAboveAverage: control.bitRate == nil ? nil : Int(size),
            isAverageWanted: isAverageWanted || isConstant,
            isMaximumWanted: request.maximumBitRate != nil || isConstant)
        let isEnough = { limit in
            Self.rates(control.changingLimit(to: limit), traits).map(noise.fits) ?? true
        }
        shortfall =
            isTight && promise.isMaximumWanted
            ? Self.explain(control, window, noise, enough: Self.lowestRate(where: isEnough)) : nil
    }

    /// The model whose encoder leaves a part of each rate, at most half, to messages that are added to its output.
    func leavingRoom(forMessages rate: Double) -> RateModel {
        guard let bucket, let encoderBucket else { return self }
        var model = self
        model.messageRate = min(rate, bucket.rate / 2)
        model.encoderBucket = LeakyBucket(rate: bucket.rate - model.messageRate, size: encoderBucket.size)
        return model
    }

    /// The lowest sufficient rate, to a thousandth; nil if no allowed rate suffices.
    private static func lowestRate(where isEnough: (Int) -> Bool) -> BitRate? {
        var (low, high) = (0, 2_000_000_000)
        guard isEnough(high) else { return nil }
        while high - low > max(100, high / 1000) {
            let middle = low + (high - low) / 2
            if isEnough(middle) { high = middle } else { low = middle }
        }
        return BitRate(high)
    }

    /// The bucket's rate, the maximum rate over a window, and the window in seconds; nil if quality alone
    /// decides.
    private static func rates(
        _ control: RateControl, _ traits: RateTraits
    ) -> (rate: Double, maximum: Double, window: Double)? {
        switch control {
        case .constantBitRate(let rate, let window):
            return (Double(rate), Double(rate) * (1 + constantRateAllowance), window)
        case .variableBitRate(let rate, let maximum, let window):
            let (rate, maximum) = (Double(rate), Double(maximum))
            return (rate + (maximum - rate) * traits.variableRatePosition, maximum, window)
        case .qualityVariableBitRate(_, _, let maximum, let window):
            return (Double(maximum) * traits.qualityRateShare, Double(maximum), window)
        case .constantQuantizer, .constantQuality: return nil
        }
    }

    /// - Parameters:
    ///   - enough: the lowest rate at which the limit would hold; nil if there is none.
    private static func explain(
        _ control: RateControl, _ window: Double, _ noise: Noise, enough: BitRate?
    ) -> String {
        let isConstant = control.mode == .cbr
        let isCrowded = noise.isCrowded(maximum: Double(control.maximumBitRate ?? 0), window: window)
        let option = isConstant ? "--bitrate" : "--max-bitrate"
        let limit = BitRate(control.bitRate.flatMap { isConstant ? $0 : nil } ?? control.maximumBitRate ?? 0)
        return "noise may take \(Quantity.decimal(window, 3)) s "
            + (isConstant ? "more than 10 % above \(limit)" : "above --max-bitrate \(limit)")
            + ", because a keyframe takes up to \(Int(noise.keyframe / 1000)) kbit"
            + (isCrowded ? " and a window has \(noise.keyframes(in: window)); " : "; ")
            + "use " + (enough.map { "\(option) \($0.argument) or more, or " } ?? "")
            + "a longer \(isCrowded ? "--keyframe-interval" : "--rate-window")"
    }
}

/// The minimum number of bits that noise takes, however tight the rate control.
private struct Noise {
    /// Bits of a keyframe.
    let keyframe: Double
    let keyframesPerSecond: Double
    let framesPerSecond: Double

    /// The smallest buffer that an encoder can hold, in keyframes.
    private static let keyframesOfRoom = 1.5
    /// The smallest buffer that an encoder can hold, in average frames: no encoder accepts less than one.
    private static let framesOfRoom = 1.2

    /// The maximum number of regular keyframes in a window.
    func keyframes(in window: Double) -> Int {
        max(1, Int((window * keyframesPerSecond - 1e-9).rounded(.up)))
    }

    /// Whether keyframes alone exceed the maximum.
    func isCrowded(maximum: Double, window: Double) -> Bool {
        maximum * window < Double(keyframes(in: window)) * keyframe
    }

    /// Whether noise fits into the bucket that the rate and the maximum define.
    func fits(rate: Double, maximum: Double, window: Double) -> Bool {
        let least = max(Self.keyframesOfRoom * keyframe, Self.framesOfRoom * rate / framesPerSecond)
        return (maximum - rate) * window >= least && !isCrowded(maximum: maximum, window: window)
    }

    /// The minimum number of bits that a window must carry beyond rate times window.
    func least(above rate: Double, in window: Double) -> Double {
        max(
            keyframe, Double(keyframes(in: window)) * keyframe - rate * window,
            Self.framesOfRoom * rate / framesPerSecond)
    }
}

// MARK: - Promise

/// The limits that a stream's bit rate observes, whatever the content.
public struct RatePromise: Sendable, Hashable {
    /// Bits a second on average; nil if quality decides.
    public let average: Int?
    /// The requested or chosen maximum over the window, in bits a second; nil without a limit.
    public let maximum: Int?
    /// The window in seconds.
    public let window: Double
    /// The maximum number of bits in any window, including the tolerance; nil without a limit.
    public let bitsInWindow: Int?
    /// The maximum number of bits beyond the average rate, for a stream of any length; nil without an
    /// average.
    public let bitsAboveAverage: Int?
    /// Whether the average was requested, by rate or by mode.
    public let isAverageWanted: Bool
    /// Whether the limit was requested, by rate or by mode.
    public let isMaximumWanted: Bool

    /// The share by which a window may exceed the maximum.
    static let windowTolerance = 0.02
    /// The share by which a stream may exceed its average.
    static let averageTolerance = 0.05

    /// Whether a number of bits in a number of seconds respects the average.
    public func holdsAverage(bits: Int, seconds: Double) -> Bool {
        guard let average, let bitsAboveAverage else { return true }
        return Double(bits)
            <= Double(average) * seconds * (1 + Self.averageTolerance) + Double(bitsAboveAverage)
    }

    /// Whether the fullest window respects the maximum.
    public func holdsMaximum(bits: Int) -> Bool { bitsInWindow.map { bits <= $0 } ?? true }
}

// MARK: - Traits of encoders

/// Measured properties of a kind of encoder's rate control; `scripts/bench rate` shows the result.
struct RateTraits: Sendable, Hashable {
    /// Bits per pixel in a keyframe of noise at the encoder's coarsest quantizer, without headers.
    var noiseBitsPerPixel: Double
    /// The share of the buffer hidden from the encoder, which overruns its buffer.
    var hiddenShare = 0.0
    /// The hidden part of the buffer in keyframes of noise; the larger of both applies.
    var hiddenKeyframes = 0.0
    /// The position of the bucket's rate between the average (0) and the maximum (1) of VBR. At 0 the average
    /// holds for any content; a higher value lets the encoder's own rate control spend saved bits later.
    var variableRatePosition = 0.0
    /// The bucket's rate as a share of the maximum in modes of constant quality.
    var qualityRateShare: Double

    /// libx264 respects its buffer exactly, and drops coefficients beyond the quantizer 51.
    static let x264 = RateTraits(noiseBitsPerPixel: 0.22, qualityRateShare: 5.0 / 6)

    /// libx265 codes rows in parallel and learns the size of previous rows too late. It follows averages only
    /// loosely: after each keyframe, it does not correct them for tens of frames.
    static let x265 = RateTraits(
        noiseBitsPerPixel: 1, hiddenShare: 0.1, hiddenKeyframes: 0.5, qualityRateShare: 2.0 / 3)

    /// Bits of a keyframe of noise with its parameter sets and headers: the encoder cannot produce less.
    func noiseKeyframe(area: Int) -> Double { noiseBitsPerPixel * Double(area) + 2000 }

    /// A driver is assumed to code noise like libx264 and libx265 at the quantizer 51, the highest of both
    /// standards. How hardware treats its buffer depends on the driver, so the output is measured.
    static func driver(_ codec: Codec) -> RateTraits {
        RateTraits(
            noiseBitsPerPixel: codec == .h264 ? 1.7 : 1.5, variableRatePosition: 0.5,
            qualityRateShare: 5.0 / 6)
    }
}

// MARK: - Bucket

/// A bound on a stream's bits: the encoder's output fills a bucket of `size` bits that drains at `rate` bits
/// a second. Any interval of T seconds therefore carries at most `size + rate · T` bits.
///
/// The bucket is the coded picture buffer of H.264 C.1 and H.265 C.2, seen from the encoder.
struct LeakyBucket: Sendable, Hashable {
    /// Bits a second.
    var rate: Double
    /// Bits.
    var size: Double
}
