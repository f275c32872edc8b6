import CamAcceleration
import CFFmpeg
import CVAAPI
import CamPictures

/// Decides, picture by picture, whether the GPU decodes a camera's Motion JPEG into an encoder's surfaces.
///
/// The first pictures are decoded by the processor as well and compared. A picture that is damaged or unusual is the
/// processor's, which then counts it as damaged or decodes it.
final class JPEGDecoding {
    private let node: String
    /// Nil once it is given up.
    private var decoder: GPUJPEGDecoder?
    private let size: PictureSize
    private let room: PictureSize
    /// Whether an error follows where the GPU is given up.
    private let isRequired: Bool
    private let record: JPEGRecord
    private var hasDecoded = false
    /// Pictures in a row that were left to the processor, and that the driver failed to decode.
    private var skipped = 0
    private var failures = 0
    /// How many pictures were compared, and how many of them had something in them.
    private var compared = 0
    private var telling = 0

    /// Comparisons until a GPU is trusted. Grey pictures say little, but a camera at night has no others.
    private static let wantedComparisons = (telling: 3, all: 30)
    /// Pictures in a row that are not for the GPU: at first the camera's are of another kind, later it is a bad cable.
    private static let patience = (first: 3, later: 30)
    private static let permittedFailures = 2

    /// - Parameters:
    ///   - size: of the stream's pictures.
    ///   - room: the surfaces' size.
    init(
        _ decoder: GPUJPEGDecoder, on node: String, size: PictureSize, room: PictureSize, isRequired: Bool,
        record: JPEGRecord
    ) {
        (self.decoder, self.node, self.size, self.room) = (decoder, node, size, room)
        (self.isRequired, self.record) = (isRequired, record)
    }

    /// Whether the next picture will probably be the GPU's, so that the processor need not decode it ahead.
    var isLikely: Bool { decoder != nil && skipped == 0 }

    /// Returns the picture if the GPU takes it.
    func picture(in bytes: UnsafeRawBufferPointer) throws(EncoderError) -> BaselineJPEG? {
        // An encoder that is opened again may take over the surfaces, and this with them.
        if record.hasGivenUp(node) { decoder = nil }
        guard let decoder else { return nil }
        let reason: String
        do throws(BaselineJPEG.Unsuitability) {
            let picture = try BaselineJPEG(bytes, size: size, room: room)
            if picture.sampling == .c420 || decoder.takes422 { return picture }
            reason = "the GPU makes no 4:2:0 of 4:2:2"
        } catch {
            reason = "the GPU does not get this JPEG: \(error.reason)"
        }
        try skip(reason)
        return nil
    }

    /// Decodes a picture into a surface.
    /// - Returns: whether the surface has it; otherwise it is the processor's.
    func decode(
        _ picture: BaselineJPEG, in bytes: UnsafeRawBufferPointer, into surface: VASurfaceID,
        _ writer: SurfaceWriter
    ) throws(EncoderError) -> Bool {
        guard let decoder else { return false }
        let status = decoder.decode(picture, in: bytes, into: surface)
        guard status == VA_STATUS_SUCCESS else {
            failures += 1
            let reason = "the GPU did not decode it: \(String(cString: vaErrorStr(status)))"
            record.note(reason)
            if failures > Self.permittedFailures { try giveUp(reason, isFault: true) }
            return false
        }
        failures = 0
        if !record.trusts(node, picture.sampling) {
            guard try isRight(picture, in: bytes, surface, writer) else { return false }
        }
        (hasDecoded, skipped) = (true, 0)
        return true
    }

    /// Compares a picture with the processor's.
    private func isRight(
        _ picture: BaselineJPEG, in bytes: UnsafeRawBufferPointer, _ surface: VASurfaceID,
        _ writer: SurfaceWriter
    ) throws(EncoderError) -> Bool {
        var result: JPEGComparison.Result?
        let isRead = try writer.read(from: surface) { planes in
            result = JPEGComparison.result(bytes, size: size, planes)
        }
        switch isRead ? result : .different("its pictures cannot be read back from the GPU") {
        case .same(let isTelling):
            compared += 1
            if isTelling { telling += 1 }
            if telling >= Self.wantedComparisons.telling || compared >= Self.wantedComparisons.all {
                record.trust(node, picture.sampling)
            }
            return true
        case .different(let reason): try giveUp(reason, isFault: true)
        case .impossible, nil: try skip("a picture was damaged")
        }
        return false
    }

    private func skip(_ reason: String) throws(EncoderError) {
        record.note(reason)
        skipped += 1
        if skipped >= (hasDecoded ? Self.patience.later : Self.patience.first) {
            try giveUp(reason, isFault: false)
        }
    }

    /// - Parameter isFault: whether the GPU is to blame, so that it is not tried again.
    private func giveUp(_ reason: String, isFault: Bool) throws(EncoderError) {
        if isFault { record.giveUp(node, reason) }
        if isRequired { throw EncoderError(.unsupported("--jpeg gpu: \(reason)")) }
        decoder = nil
    }
}
