import Bitstream
import CFFmpeg
import CamPlatform

/// The bytes of one coded picture as received, and what a decoder must know first. Only valid during the
/// `AccessUnitGatherer`'s call.
public struct ReceivedAccessUnit: ~Copyable {
    /// Position in the stream, from 0; each field is an access unit.
    public let number: Int
    /// Whether there is a slice, even a damaged one.
    public let hasPicture: Bool
    /// What its first slice states about it.
    public let role: PictureRole
    /// Whether pictures that this one may refer to are missing from the stream.
    public let followsGap: Bool
    /// Whether some of its NAL units are missing or contain impossible bytes.
    public let isIncomplete: Bool
    /// The parameter sets in force after it, byte for byte, except those that refer to a missing one.
    public let parameterSets: ParameterSets
    /// What the latest sequence parameter set states about the pictures; `nil` if none could be read.
    public let format: StreamFormat?
    /// Whether libavcodec may decode its slices on several threads. FFmpeg 5.1's decoder of H.265 crashes if
    /// Rice parameters persist (`persistent_rice_adaptation_enabled_flag`) and a slice has rows, but no entry
    /// points, for wavefronts: it looks for the previous row's state in a thread that it never created
    /// (hevc_cabac.c, `load_states`).
    public let allowsThreads: Bool
    /// What the stream declares about output order, if decoding can begin here; otherwise `nil`.
    public let reordering: PictureReordering?
    /// When its first byte arrived, on the caller's clock; nil if the caller did not say.
    public let arrival: Instant?

    /// Whether decoding can begin here: an IDR picture, or one of H.265's other random access points (BLA,
    /// CRA), whose undecodable leading pictures libavcodec drops.
    public var isEntryPoint: Bool { role.isEntryPoint }

    let buffer: UnsafeMutablePointer<AVBufferRef>
    let byteCount: Int

    /// Provides access to the bytes, including start codes, which must not be used after the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: buffer.pointee.data, count: byteCount))
    }
}
