import Decoder

/// The machine-readable part of the live test source's pictures: rows of sixteen blocks of 16 x 16 pixels,
/// the number in the top left corner, the time in two rows in the bottom left one.
struct PictureStamp {
    /// The lower 16 bits of the frame's number.
    let number: Int
    /// The lower 32 bits of CLOCK_MONOTONIC at capture, in microseconds.
    private let time: UInt32

    init(_ picture: borrowing DecodedPicture) {
        let bottom = picture.height & ~1
        (number, time) = picture.withPlane(0) { luma, stride in
            func row(_ y: Int) -> Int {
                (0..<16).reduce(0) { $0 << 1 | (luma[(y + 8) * stride + $1 * 16 + 8] > 128 ? 1 : 0) }
            }
            return (row(0), UInt32(row(bottom - 32) << 16 | row(bottom - 16)))
        }
    }

    /// Nanoseconds from the capture to a time of CLOCK_MONOTONIC in nanoseconds.
    func age(at now: Int64) -> Int64 {
        let age = UInt32(truncatingIfNeeded: now / 1000) &- time
        return Int64(Int32(bitPattern: age)) * 1000 + now % 1000
    }
}
