/// How numbers in a picture become colours: the code points of ITU-T H.273, as the VUI carries them.
public struct ColorEncoding: Sendable, Hashable {
    /// Whether luma uses 16 … 235 (video, "limited") or 0 … 255 (JPEG, "full").
    public enum Range: String, Sendable, Hashable { case limited, full }

    /// The matrix between RGB and Y′CbCr, with its code point (H.273 table 4).
    public enum Matrix: UInt8, Sendable, Hashable {
        case bt709 = 1
        case bt601 = 6
        case bt2020 = 9
    }

    /// `video_full_range_flag`.
    public var range: Range
    /// `matrix_coefficients`.
    public var matrix: Matrix
    /// `colour_primaries` (H.273 table 2); 1 is BT.709 and sRGB, 2 is unspecified.
    public var primaries: UInt8
    /// `transfer_characteristics` (H.273 table 3); 1 is BT.709, 13 is sRGB, 2 is unspecified.
    public var transfer: UInt8

    /// An encoding; primaries and transfer are BT.709's unless said otherwise.
    public init(range: Range, matrix: Matrix, primaries: UInt8 = 1, transfer: UInt8 = 1) {
        self.range = range
        self.matrix = matrix
        self.primaries = primaries
        self.transfer = transfer
    }
}
