import Bitstream

/// What a container says about the stream in it, beside what the stream says itself.
public struct StreamDescription: Sendable {
    /// The coding standard.
    public var codec: Codec
    /// Width in luma samples, after cropping.
    public var width: Int
    /// Height in luma samples, after cropping.
    public var height: Int
    /// Nominal frames a second; nil where nothing is known.
    public var frameRate: NominalFrameRate?
    /// How many pictures at most precede another in decoding order and follow it in presentation order; an
    /// upper bound will do, such as the number of B pictures in a row. Each puts the first decoding time one
    /// frame earlier.
    public var reordering: Int
    /// The colour; nil where only the stream's VUI says it.
    public var color: Color?
    /// The shape of pixels; nil where they are square, or only the stream's VUI says it.
    public var pixelAspect: PixelAspect?
    /// The encoder's name, for the file's metadata.
    public var encoder: String?

    /// A pixel's width to its height.
    public struct PixelAspect: Sendable, Hashable {
        public var width: Int
        public var height: Int

        /// A shape as two whole numbers above zero.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// Code points of ITU-T H.273.
    public struct Color: Sendable, Hashable {
        /// `colour_primaries` (table 2).
        public var primaries: UInt8
        /// `transfer_characteristics` (table 3).
        public var transfer: UInt8
        /// `matrix_coefficients` (table 4).
        public var matrix: UInt8
        /// `video_full_range_flag`.
        public var isFullRange: Bool

        /// A colour by its code points.
        public init(primaries: UInt8, transfer: UInt8, matrix: UInt8, isFullRange: Bool) {
            self.primaries = primaries
            self.transfer = transfer
            self.matrix = matrix
            self.isFullRange = isFullRange
        }
    }

    /// A description; without reordering, colour and encoder unless they are given.
    public init(
        codec: Codec, width: Int, height: Int, frameRate: NominalFrameRate?,
        reordering: Int = 0, color: Color? = nil, pixelAspect: PixelAspect? = nil, encoder: String? = nil
    ) {
        self.codec = codec
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.reordering = reordering
        self.color = color
        self.pixelAspect = pixelAspect
        self.encoder = encoder
    }

    /// The nominal time from one picture to the next in nanoseconds, at least 1; that of 25 frames a second,
    /// which players assume, where nothing is known.
    var frameDuration: Int64 {
        guard let frameRate else { return 40_000_000 }
        return Int64((1e9 / frameRate.framesPerSecond).clamped(to: 1...1e15))
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
