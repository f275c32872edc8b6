/// The bucket that holds a rate control's promise, and what the promise is.
///
/// A bucket of rate r and size b lets a window W carry r · W + b, so r · W + b is to be the maximum R · W. Where b
/// has no room for a keyframe of noise at the coarsest quantiser, the window is r · W and that keyframe.
struct RateModel: Sendable, Hashable {
    /// Nil where every picture gets the bits that it needs.
    let bucket: LeakyBucket?
    /// The bucket passed to the encoder: smaller, where the encoder overruns its buffer.
    let encoderBucket: LeakyBucket?
    let promise: RatePromise
    /// Why the maximum does not hold for noise, and what would; nil where it does.
    let shortfall: String?

    /// A buffer smaller than so many keyframes of noise cannot be held.
    private static let keyframesOfRoom = 1.5
    /// No encoder has a buffer that does not hold an average frame.
    private static let framesOfRoom = 1.2
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
        let keyframe = traits.noiseKeyframe(area: area)
        let room = (maximum - rate) * window
        let least = Self.leastRoom(rate: rate, keyframe: keyframe, framesPerSecond: framesPerSecond)
        let isTight = room < least
        let size = isTight ? max(room, keyframe, Self.framesOfRoom * rate / framesPerSecond) : room
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
        let enough = { rate in
            Self.isRoomEnough(
                control.changingLimit(to: rate), traits, keyframe: keyframe, framesPerSecond: framesPerSecond)
        }
        shortfall =
            isTight && promise.isMaximumWanted
            ? Self.explain(control, window, keyframe: keyframe, enough: Self.lowestRate(where: enough)) : nil
    }

    private static func leastRoom(rate: Double, keyframe: Double, framesPerSecond: Double) -> Double {
        max(keyframesOfRoom * keyframe, framesOfRoom * rate / framesPerSecond)
    }

    private static func isRoomEnough(
        _ control: RateControl, _ traits: RateTraits, keyframe: Double, framesPerSecond: Double
    ) -> Bool {
        guard let (rate, maximum, window) = rates(control, traits) else { return true }
        return (maximum - rate) * window
            >= leastRoom(rate: rate, keyframe: keyframe, framesPerSecond: framesPerSecond)
    }

    /// The lowest rate that is enough, to a thousandth; nil where none is that can be asked for.
    private static func lowestRate(where isEnough: (Int) -> Bool) -> BitRate? {
        var (low, high) = (0, 2_000_000_000)
        guard isEnough(high) else { return nil }
        while high - low > max(100, high / 1000) {
            let middle = low + (high - low) / 2
            if isEnough(middle) { high = middle } else { low = middle }
        }
        return BitRate(high)
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
    ///   - enough: the lowest rate with which the limit would hold.
    private static func explain(
        _ control: RateControl, _ window: Double, keyframe: Double, enough: BitRate?
    ) -> String {
        let isConstant = control.mode == .cbr
        let option = isConstant ? "--bitrate" : "--max-bitrate"
        let limit = BitRate(control.bitRate.flatMap { isConstant ? $0 : nil } ?? control.maximumBitRate ?? 0)
        return "noise may take \(decimal(window)) s "
            + (isConstant ? "more than 10 % above \(limit)" : "above --max-bitrate \(limit)")
            + ", because a keyframe of it takes up to \(Int(keyframe / 1000)) kbit; "
            + (enough.map { "from \(option) \($0.argument) on it holds, or over" } ?? "use")
            + " a longer --rate-window"
    }

    private static func decimal(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\((value * 1000).rounded() / 1000)"
    }
}
