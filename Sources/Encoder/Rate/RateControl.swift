import CamPlatform

/// How an encoder decides how many bits a picture gets.
public enum RateControl: Sendable, Hashable, CustomStringConvertible {
    /// `rate` bits a second, at most a tenth more over `window` seconds.
    case constantBitRate(rate: Int, window: Double)
    /// `rate` bits a second on average, never more than `maximum` over `window` seconds.
    case variableBitRate(rate: Int, maximum: Int, window: Double)
    /// The same quantizer for every picture, 0 (best) … 51.
    case constantQuantizer(Int)
    /// The same visible quality for every picture, 1 (best) … 51: VA-API's ICQ, x264's CRF.
    case constantQuality(Int)
    /// Constant quality, never more than `maximum` bits a second over `window` seconds.
    case qualityVariableBitRate(quality: Int, rate: Int, maximum: Int, window: Double)

    /// The name of a mode, on the command line and in VA-API.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        case cbr, vbr, cqp, icq, qvbr
    }

    /// The mode's name.
    public var mode: Mode {
        switch self {
        case .constantBitRate: .cbr
        case .variableBitRate: .vbr
        case .constantQuantizer: .cqp
        case .constantQuality: .icq
        case .qualityVariableBitRate: .qvbr
        }
    }

    /// The target average rate, if there is one.
    public var bitRate: Int? {
        switch self {
        case .constantBitRate(let rate, _), .variableBitRate(let rate, _, _): rate
        case .constantQuantizer, .constantQuality, .qualityVariableBitRate: nil
        }
    }

    /// The average passed to the encoder; with constant quality only a typical value.
    var averageForEncoder: Int {
        switch self {
        case .constantBitRate(let rate, _), .variableBitRate(let rate, _, _),
            .qualityVariableBitRate(_, let rate, _, _):
            rate
        case .constantQuantizer, .constantQuality: 0
        }
    }

    /// The highest allowed rate, if there is a limit.
    public var maximumBitRate: Int? {
        switch self {
        case .constantBitRate(let rate, _): rate
        case .variableBitRate(_, let maximum, _), .qualityVariableBitRate(_, _, let maximum, _): maximum
        case .constantQuantizer, .constantQuality: nil
        }
    }

    /// The rate control with another limit: the rate of CBR, otherwise the maximum.
    func changingLimit(to limit: Int) -> RateControl {
        switch self {
        case .constantBitRate(_, let window): .constantBitRate(rate: limit, window: window)
        case .variableBitRate(let rate, _, let window):
            .variableBitRate(rate: rate, maximum: max(rate, limit), window: window)
        case .qualityVariableBitRate(let quality, let rate, _, let window):
            .qualityVariableBitRate(quality: quality, rate: rate, maximum: limit, window: window)
        case .constantQuantizer, .constantQuality: self
        }
    }

    public var description: String {
        switch self {
        case .constantBitRate(let rate, _): "CBR \(BitRate(rate))"
        case .variableBitRate(let rate, let maximum, _): "VBR \(BitRate(rate)), at most \(BitRate(maximum))"
        case .constantQuantizer(let quantizer): "constant QP \(quantizer)"
        case .constantQuality(let quality): "constant quality \(quality)"
        case .qualityVariableBitRate(let quality, _, let maximum, _):
            "quality \(quality), at most \(BitRate(maximum))"
        }
    }
}

/// A new rate for a stream that is being coded, in bits a second, at least 1.
public enum RateChange: Sendable, Hashable {
    case average(Int)
    case maximum(Int)
}

/// Bits a second, printed for people.
struct BitRate: CustomStringConvertible {
    let bitsPerSecond: Int

    init(_ bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }

    var description: String {
        let (unit, name) = bitsPerSecond >= 1_000_000 ? (1_000_000, "Mbit/s") : (1000, "kbit/s")
        let tenths = (bitsPerSecond * 10 + unit / 2) / unit
        return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
    }

    /// The rate as a command-line argument, rounded up: `800k`, `1.4M`.
    var argument: String {
        if bitsPerSecond < 1_000_000 { return "\((bitsPerSecond + 999) / 1000)k" }
        let tenths = (bitsPerSecond + 99_999) / 100_000
        return tenths % 10 == 0 ? "\(tenths / 10)M" : "\(tenths / 10).\(tenths % 10)M"
    }
}

/// The requested rate control; properties that are nil leave the choice open.
public struct RateControlRequest: Sendable, Hashable {
    /// The mode; nil derives it from the rest of the request.
    public var mode: RateControl.Mode?
    /// Average bits a second.
    public var bitRate: Int?
    /// The most bits a second over `window`; nil: four times the average.
    public var maximumBitRate: Int?
    /// Seconds over which the maximum holds.
    public var window = 1.0
    /// Constant quantizer, 0 … 51.
    public var quantizer: Int?
    /// Constant quality, 1 … 51.
    public var quality: Int?

    /// Requests the default: the codec's usual number of bits per pixel.
    public init() {}

    /// The request with one rate changed.
    func changed(_ change: RateChange) -> RateControlRequest {
        switch change {
        case .average(let rate): return changed(toBitRate: rate)
        case .maximum(let rate):
            var request = self
            request.maximumBitRate = rate
            return request
        }
    }

    private func changed(toBitRate rate: Int) -> RateControlRequest {
        var request = self
        request.bitRate = rate
        (request.quantizer, request.quality) = (nil, nil)
        if mode == .cqp || mode == .icq || mode == .qvbr { request.mode = nil }
        if let maximumBitRate, maximumBitRate < rate { request.maximumBitRate = nil }
        return request
    }

    /// The mode that the request implies.
    var wantedMode: RateControl.Mode {
        if let mode { return mode }
        if quantizer != nil { return .cqp }
        if quality != nil { return bitRate == nil && maximumBitRate == nil ? .icq : .qvbr }
        return .vbr
    }

    /// Matches the request to an encoder with `supported` modes. If the wanted mode is missing, returns the
    /// nearest mode and a note.
    func resolve(
        supported: Set<RateControl.Mode>, pixelsPerSecond: Double, encoder: String,
        bitsPerPixel: Double = 0.1, highestRate: Int = .max
    ) throws(EncoderError) -> (control: RateControl, note: String?) {
        let wanted = wantedMode
        guard let mode = Self.fallbacks(from: wanted).first(where: supported.contains) else {
            throw EncoderError(.unsupported("\(encoder) offers no rate control that camrec knows"))
        }
        let control = control(
            mode, usualRate: Int(pixelsPerSecond * bitsPerPixel), highestRate: highestRate)
        guard mode != wanted else { return (control, nil) }
        return (control, "\(encoder) has no \(wanted.rawValue.uppercased()); using \(control)")
    }

    /// - Parameters:
    ///   - usualRate: the rate if none is requested.
    ///   - highestRate: the level's limit for rates that were not requested.
    private func control(_ mode: RateControl.Mode, usualRate: Int, highestRate: Int) -> RateControl {
        let maximumGiven = maximumBitRate ?? highestRate
        let rate = bitRate ?? min(maximumGiven, max(64_000, usualRate))
        // A lower maximum would cost quality: in ordinary scenes, keyframes take most of a second's bits.
        let maximum = max(rate, maximumBitRate ?? min(highestRate, 4 * rate))
        switch mode {
        case .cbr: return .constantBitRate(rate: rate, window: window)
        case .vbr: return .variableBitRate(rate: rate, maximum: maximum, window: window)
        case .cqp: return .constantQuantizer(quantizer ?? quality ?? Self.defaultQuantizer)
        case .icq: return .constantQuality(quality ?? quantizer ?? Self.defaultQuantizer)
        case .qvbr:
            return .qualityVariableBitRate(
                quality: quality ?? quantizer ?? Self.defaultQuantizer, rate: rate, maximum: maximum,
                window: window)
        }
    }

    /// Gives good pictures at a moderate rate, with x264 and with hardware.
    private static let defaultQuantizer = 24

    private static func fallbacks(from mode: RateControl.Mode) -> [RateControl.Mode] {
        switch mode {
        case .cbr: [.cbr, .vbr, .qvbr, .cqp, .icq]
        case .vbr: [.vbr, .cbr, .qvbr, .icq, .cqp]
        case .cqp: [.cqp, .icq, .qvbr, .vbr, .cbr]
        case .icq: [.icq, .cqp, .qvbr, .vbr, .cbr]
        case .qvbr: [.qvbr, .vbr, .icq, .cqp, .cbr]
        }
    }
}

/// A bit rate as users write it: `4M`, `800k`, `4000000`.
public struct BitsPerSecond: Sendable, Hashable {
    /// The expected form of the text, for messages.
    public static let requirement = "expected 1k to 2000M bits a second, as in 800k or 4M"

    /// Bits a second, 1000 to 2,000,000,000.
    public let value: Int

    /// Returns nil if the text is not a bit rate, or is out of range.
    public init?(_ text: String) {
        let (number, unit) = text.splitUnit()
        let factor: Double? =
            switch unit.lowercased() {
            case "": 1
            case "k", "kbps", "kbit/s": 1e3
            case "m", "mbps", "mbit/s": 1e6
            default: nil
            }
        guard let number, let factor, (1000...2e9).contains(number * factor) else { return nil }
        value = Int(number * factor)
    }
}
