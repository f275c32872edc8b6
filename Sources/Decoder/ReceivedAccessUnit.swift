import Bitstream
import CFFmpeg
import Time

/// The bytes of one coded picture as received, and what a decoder must know before them. Lent by
/// an `AccessUnitGatherer` for one call.
public struct ReceivedAccessUnit: ~Copyable {
    /// Position in the stream, from 0; each field is an access unit.
    public let number: Int
    /// Whether there is a slice, even a damaged one.
    public let hasPicture: Bool
    /// What its first slice says of it.
    public let role: PictureRole
    /// Whether pictures that this one may refer to are missing from the stream.
    public let isBehindGap: Bool
    /// Whether some of its NAL units are missing or contain impossible bytes.
    public let isIncomplete: Bool
    /// The parameter sets in force after it, byte for byte, except those that refer to a missing one.
    public let parameterSets: ParameterSets
    /// What the sequence parameter set that came last says of the pictures; `nil` if none could be read.
    public let format: StreamFormat?
    /// Whether libavcodec may decode its slices on several threads. FFmpeg 5.1's decoder of H.265 crashes where Rice
    /// parameters persist (`persistent_rice_adaptation_enabled_flag`) and a slice has rows, but no entry points, for
    /// wavefronts: it looks for what the row before left at a thread that it never made (hevc_cabac.c, `load_states`).
    public let allowsThreads: Bool
    /// What the stream says of the order of output, where decoding can begin; `nil` at all others.
    public let reordering: PictureReordering?
    /// When its first byte came, on the caller's clock; nil where the caller did not say.
    public let arrival: Instant?

    /// Whether decoding can begin here: an IDR picture, or one of H.265's other random access points (BLA, CRA),
    /// whose undecodable leading pictures libavcodec leaves out.
    public var isEntryPoint: Bool { role.isEntryPoint }

    let buffer: UnsafeMutablePointer<AVBufferRef>
    let byteCount: Int

    /// Lends the bytes, start codes included, which must not be kept beyond the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: buffer.pointee.data, count: byteCount))
    }
}
