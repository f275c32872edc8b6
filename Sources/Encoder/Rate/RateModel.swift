/// The bucket that holds a rate control's promise, and what the promise is.
///
/// A bucket of rate r and size b lets a window W carry r · W + b, so r · W + b is to be the maximum R · W. Where b
/// has no room for a keyframe of noise at the coarsest quantiser, the window is r · W and that keyframe.
struct RateModel: Sendable, Hashable {
    /// Nil where every picture gets the bits that it needs.
    let bucket: LeakyBucket?
    /// What the encoder is told: less, where it oversteps its buffer.
    let encoderBucket: LeakyBucket?
    let promise: RatePromise
    /// Why the maximum does not hold for noise, and what would; nil where it does.
    let shortfall: String?

    /// A buffer smaller than so many keyframes of noise cannot be held.
    private static let keyframesOfRoom = 1.5
    /// What CBR may spend above its rate.
    private static let constantRateAllowance = 0.1

    /// - Parameters:
    ///   - area: pixels of a picture.
    ///   - framesPerSecond: nominally.
    init(
        _ control: RateControl, request: RateControlRequest, area: Int, framesPerSecond: Double,
        traits: RateTraits
    ) {
        let isAverageWanted = request.bitRate != nil
        guard let (rate, maximum, window) = Self.rates(control, traits) else {
            (bucket, encoderBucket, shortfall) = (nil, nil, nil)
            promise = RatePromise(
                average: nil, maximum: nil, window: request.window, bitsInWindow: nil, bitsAboveAverage: nil,
                isAverageWanted: false, isMaximumWanted: false)
            return
        }
        let keyframe = traits.noiseBitsPerPixel * Double(area)
        let room = (maximum - rate) * window
        let isTight = room < Self.keyframesOfRoom * keyframe
        // No encoder has a buffer that does not hold one average frame.
        let size = max(isTight ? max(room, keyframe) : room, 1.2 * rate / framesPerSecond)
        let bucket = LeakyBucket(rate: rate, size: size)
        let hidden = max(size * traits.hiddenShare, min(size / 2, keyframe * traits.hiddenKeyframes))
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
        shortfall =
            isTight && promise.isMaximumWanted
            ? Self.explain(
                control, window, keyframe: keyframe, needed: Self.keyframesOfRoom * keyframe, traits) : nil
    }

    /// The bucket's rate, the most in a window, and the window; nil where quality alone decides.
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
    ///   - keyframe: bits of one of noise.
    ///   - needed: bits of room with which the maximum would hold.
    private static func explain(
        _ control: RateControl, _ window: Double, keyframe: Double, needed: Double, _ traits: RateTraits
    ) -> String {
        let cause = "a keyframe of it takes up to \(Int(keyframe / 1000)) kbit"
        switch control {
        case .constantBitRate(let rate, _):
            let enough = BitRate(saturating: needed / constantRateAllowance / window)
            return
                "noise may take \(decimal(window)) s more than 10 % above \(BitRate(rate)), because \(cause); "
                + "from --bitrate \(enough.argument) on it stays below, or over a longer --rate-window"
        case .variableBitRate(let rate, _, _):
            let share = 1 - traits.variableRatePosition
            return explain(
                control, window, cause, BitRate(saturating: Double(rate) + needed / share / window))
        default:
            return explain(
                control, window, cause, BitRate(saturating: needed / (1 - traits.qualityRateShare) / window))
        }
    }

    private static func explain(
        _ control: RateControl, _ window: Double, _ cause: String, _ enough: BitRate
    ) -> String {
        "noise may take \(decimal(window)) s above --max-bitrate \(BitRate(control.maximumBitRate ?? 0)), because "
            + "\(cause); it holds for any picture from \(enough.argument) on, or over a longer --rate-window"
    }

    private static func decimal(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\((value * 1000).rounded() / 1000)"
    }
}
