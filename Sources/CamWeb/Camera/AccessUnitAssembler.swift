import Bitstream
import CamPlatform

/// Assembles a live Annex B stream, in chunks of any size, into access units of the guaranteed shape.
///
/// A picture's end is certain only when the next one begins, which is a frame later. Senders write a picture at once, so a
/// pause counts as the end, too. If the picture continues after all, what follows is left out until the next keyframe, and
/// `splitCount` grows: the caller should wait longer. Memory is bounded, and any input is safe.
///
/// Use it in one thread.
final class AccessUnitAssembler {
    private var parser: AnnexBParser
    private var assembly: PictureAssembly
    private let codec: Codec

    /// The default for the largest accepted picture, in bytes.
    static let defaultByteLimit = 16 << 20

    /// Creates an assembler at the start of a stream.
    init(codec: Codec, byteLimit: Int = AccessUnitAssembler.defaultByteLimit) {
        self.codec = codec
        parser = AnnexBParser(maximumUnitByteCount: byteLimit)
        assembly = PictureAssembly(codec: codec, byteLimit: byteLimit)
    }

    /// How many pictures continued after a pause.
    var splitCount: Int { assembly.splitCount }

    /// Whether a picture came that is shown before an earlier one.
    var isReordered: Bool { assembly.isReordered }

    /// Takes the next bytes, and calls `body` for each picture that has ended.
    func add(_ chunk: RawSpan, arrival: Instant, _ body: (AccessUnit) -> Void) {
        parser.parse(chunk) { result, nalUnit in assembly.add(result, nalUnit, arrival: arrival, body) }
        parser.withPendingBytes { _, nalUnit in assembly.peek(nalUnit, body) }
    }

    /// Notes a pause: a picture that has arrived so far is probably complete.
    func pause(arrival: Instant, _ body: (AccessUnit) -> Void) {
        var isSlice = false
        parser.withPendingBytes { _, nalUnit in
            isSlice = NALUnitHeader(of: nalUnit, codec: codec)?.isSlice ?? false
        }
        guard isSlice, !assembly.isUndecided else { return }
        parser.finish { result, nalUnit in assembly.add(result, nalUnit, arrival: arrival, body) }
        assembly.deliverEarly(body)
    }

    /// Ends the stream after a whole picture.
    func finish(arrival: Instant, _ body: (AccessUnit) -> Void) {
        parser.finish { result, nalUnit in assembly.add(result, nalUnit, arrival: arrival, body) }
        assembly.finish(body)
    }
}
