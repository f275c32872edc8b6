/// The meaning of sample values as colors, by the code points of ITU-T H.273 that the VUI carries.
public struct ColorEncoding: Sendable, Hashable {
    /// Whether luma uses 16 … 235 (video, "limited") or 0 … 255 (JPEG, "full").
    public enum Range: String, Sendable, Hashable, CaseIterable { case limited, full }

    /// The matrix between RGB and Y′CbCr by its code point (H.273 table 4), which camrec may not know.
    public struct Matrix: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// `matrix_coefficients`.
        public let rawValue: UInt8

        /// Any code point.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// HD.
        public static let bt709 = Matrix(rawValue: 1)
        /// SD: SMPTE 170M. BT.470 has the same matrix under another number.
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

    /// The range of luma.
    public var range: Range
    /// The matrix from luma and chroma to red, green and blue.
    public var matrix: Matrix
    /// `colour_primaries` (H.273 table 2); 1 is BT.709 and sRGB, 2 is unspecified.
    public var primaries: UInt8
    /// `transfer_characteristics` (H.273 table 3); 1 is BT.709, 13 is sRGB, 2 is unspecified.
    public var transfer: UInt8

    /// Creates an encoding, by default with the primaries and transfer of BT.709.
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

/// The position of the chroma samples of a 4:2:0 picture, by the code points of H.264 and H.265 (figure E-1).
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

    /// The offset from the upper left luma sample to the right and down, in half samples.
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

    /// The siting with an offset. No code point puts chroma on the right; the nearest is the middle.
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
    /// The siting of chroma in 4:2:0 pictures converted from this format, unless the source declares another.
    /// JFIF places chroma between pixels, and video level with them. For pixels that each have chroma, four
    /// are averaged.
    package var chromaSiting: ChromaSiting {
        switch arrangement {
        case .jpeg, .rgb, .vendor, .planar(1, _, _), .semiPlanar(1, _, _): .center
        case .semiPlanar, .planar, .packed422, .grey, .h264: .left
        }
    }
}
