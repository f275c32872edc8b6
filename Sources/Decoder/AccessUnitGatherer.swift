import Bitstream
import CFFmpeg
import CamPlatform

/// Splits an Annex B byte stream, in chunks of any size, into access units, byte for byte.
///
/// The result does not depend on where chunks end. Parameter sets, SEI and slices of one picture leave
/// together. A picture's end is known only when the first bytes of the next one arrive, so gathering delays a
/// stream by one picture, unless the caller anticipates its end. Memory is bounded, and any input is safe:
/// what cannot belong to a picture is left out, and the picture is marked.
///
/// Use it in one thread at a time.
public final class AccessUnitGatherer {
    /// The default for the largest accepted access unit, in bytes.
    public static let defaultByteLimit = 16 << 20

    /// The stream's coding standard.
    public let codec: Codec
    private var parser: AnnexBParser
    private var collector: AccessUnitCollector

    /// Creates a gatherer at the start of a stream.
    /// - Parameter byteLimit: the largest accepted access unit, in bytes, at least 1: a longer one loses the
    ///   NAL units beyond. A gatherer uses twice as much memory.
    public init(codec: Codec, byteLimit: Int = AccessUnitGatherer.defaultByteLimit) {
        self.codec = codec
        parser = AnnexBParser(maximumUnitByteCount: byteLimit)
        collector = AccessUnitCollector(codec: codec, byteLimit: byteLimit)
    }

    /// Adds the next bytes of the stream, and calls `body` for each access unit that is known to have ended.
    /// - Parameter arrival: when they arrived; passed on with the access units that begin in them.
    /// - Throws: what `body` throws; do not use the gatherer after that.
    public func gather<Failure: Error>(
        _ chunk: RawSpan, arrival: Instant? = nil,
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        try parser.parse(chunk) { (result, nalUnit) throws(Failure) in
            try collector.add(result, nalUnit, arrival: arrival, body)
        }
        try parser.withPendingBytes { (_, nalUnit) throws(Failure) in
            try collector.peek(nalUnit, arrival: arrival, body)
        }
    }

    /// Passes the unfinished access unit, as far as it has arrived: after a pause of the stream it is likely
    /// to be complete. Whether it was is known when it is delivered, under the same number: it then has the
    /// same number of bytes. `body` is not called if it contains no picture, or not a picture's beginning.
    /// - Throws: what `body` throws.
    public func anticipate<Failure: Error>(
        _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        try parser.withPendingBytes { (unit, nalUnit) throws(Failure) in
            try collector.anticipate(nalUnit, startCodeLength: unit.startCodeLength, body)
        }
    }

    /// Ends the stream, and calls `body` for its last access unit. Another stream may follow, or the same one
    /// if a pause proved that the access unit is complete: parameter sets stay in force.
    /// - Throws: what `body` throws.
    public func finish<Failure: Error>(
        arrival: Instant? = nil, _ body: (borrowing ReceivedAccessUnit) throws(Failure) -> Void
    ) throws(Failure) {
        try parser.finish { (result, nalUnit) throws(Failure) in
            try collector.add(result, nalUnit, arrival: arrival, body)
        }
        try collector.finish(body)
    }

    /// Discards the unfinished access unit, whose rest will never come. The next one follows a loss.
    public func abandon() {
        parser = AnnexBParser(maximumUnitByteCount: parser.maximumUnitByteCount)
        collector.abandon()
    }
}

// MARK: Access units

/// The bytes of one coded picture as received, and the facts that a decoder needs first. Valid only during
/// the call by the `AccessUnitGatherer`.
public struct ReceivedAccessUnit: ~Copyable {
    /// The position in the stream, from 0; each field is an access unit.
    public let number: Int
    /// Whether the access unit has a slice, even a damaged one.
    public let hasPicture: Bool
    /// The relation of the picture to others, from its first slice.
    public let role: PictureRole
    /// Whether the stream lacks pictures to which this one may refer.
    public let followsGap: Bool
    /// Whether some of its NAL units are missing or contain impossible bytes.
    public let isIncomplete: Bool
    /// The parameter sets in force after it, byte for byte, except those that refer to a missing one.
    public let parameterSets: ParameterSets
    /// The format in the latest sequence parameter set; `nil` if none could be read.
    public let format: StreamFormat?
    /// Whether libavcodec may decode its slices on several threads. FFmpeg 5.1's decoder of H.265 crashes if
    /// Rice parameters persist (`persistent_rice_adaptation_enabled_flag`) and a slice has rows, but no entry
    /// points, for wavefronts: it looks for the previous row's state in a thread that it never created
    /// (hevc_cabac.c, `load_states`).
    public let allowsThreads: Bool
    /// The output order that the stream declares, if decoding can begin here; otherwise `nil`.
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
