/// A bound on a stream's bits: what leaves an encoder fills a bucket of `size` bits that drains at `rate` bits a
/// second, so that any time T carries at most `size + rate · T`.
///
/// It is the coded picture buffer of H.264 C.1 and H.265 C.2 seen from the encoder.
struct LeakyBucket: Sendable, Hashable {
    /// Bits a second.
    var rate: Double
    /// Bits.
    var size: Double
}
