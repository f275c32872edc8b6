/// How a picture's sample values become colours: the code points of ITU-T H.273, as the VUI carries them.
public struct ColorEncoding: Sendable, Hashable {
    /// Whether luma uses 16 … 235 (video, "limited") or 0 … 255 (JPEG, "full").
    public enum Range: String, Sendable, Hashable, CaseIterable { case limited, full }

    /// The matrix between RGB and Y′CbCr by its code point (H.273 table 4), known to camrec or not.
    public struct Matrix: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// `matrix_coefficients`.
        public let rawValue: UInt8

        /// Any code point.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// HD.
        public static let bt709 = Matrix(rawValue: 1)
        /// SD: SMPTE 170M, and BT.470's under another number.
        public static let bt601 = Matrix(rawValue: 6)
        /// UHD, with non-constant luminance.
        public static let bt2020 = Matrix(rawValue: 9)

        /// The matrices that camrec can encode pictures with.
        public static let supported: [Matrix] = [.bt601, .bt709, .bt2020]

        public var description: String {
            switch self {
            case .bt709: "bt709"
            case .bt601: "bt601"
            case .bt2020: "bt2020"
            default: "\(rawValue)"
            }
        }
    }

    /// Which codes luma uses.
    public var range: Range
    /// From luma and chroma to red, green and blue.
    public var matrix: Matrix
    /// `colour_primaries` (H.273 table 2); 1 is BT.709 and sRGB, 2 is unspecified.
    public var primaries: UInt8
    /// `transfer_characteristics` (H.273 table 3); 1 is BT.709, 13 is sRGB, 2 is unspecified.
    public var transfer: UInt8

    /// An encoding; primaries and transfer are BT.709's unless stated otherwise.
    public init(range: Range, matrix: Matrix, primaries: UInt8 = 1, transfer: UInt8 = 1) {
        self.range = range
        self.matrix = matrix
        self.primaries = primaries
        self.transfer = transfer
    }

    /// `video_full_range_flag`.
    public var isFullRange: Bool { range == .full }
}

// MARK: Chroma siting

/// Where the chroma samples of a 4:2:0 picture are, by the code points of H.264 and H.265 (figure E-1).
public enum ChromaSiting: UInt8, Sendable, Hashable {
    /// Level with the left of two luma samples, between two rows: MPEG-2 and everything since.
    case left = 0
    /// In the middle of four luma samples: JPEG, and averages over four pixels.
    case center = 1
    /// On the upper left luma sample.
    case topLeft = 2
    /// Above the middle of two luma samples, level with the upper row.
    case top = 3
    /// On the lower left luma sample.
    case bottomLeft = 4
    /// Below the middle of two luma samples, level with the lower row.
    case bottom = 5

    /// Half luma samples to the right of the upper left one, and below it.
    package var offset: (x: Int, y: Int) {
        switch self {
        case .left: (0, 1)
        case .center: (1, 1)
        case .topLeft: (0, 0)
        case .top: (1, 0)
        case .bottomLeft: (0, 2)
        case .bottom: (1, 2)
        }
    }

    /// The siting with this offset. No code point puts chroma on the right: the nearest is the middle.
    package init(x: Int, y: Int) {
        switch (x, y) {
        case (0, 0): self = .topLeft
        case (0, 2): self = .bottomLeft
        case (0, _): self = .left
        case (_, 0): self = .top
        case (_, 2): self = .bottom
        default: self = .center
        }
    }
}

extension PixelFormat {
    /// Where chroma is in the 4:2:0 pictures converted from this format, if the source does not say
    /// otherwise: JFIF places chroma between pixels, video level with them; pixels that each have chroma are
    /// averaged.
    package var chromaSiting: ChromaSiting {
        switch arrangement {
        case .jpeg, .rgb, .vendor, .planar(1, _, _), .semiPlanar(1, _, _): .center
        case .semiPlanar, .planar, .packed422, .grey, .h264: .left
        }
    }
}
