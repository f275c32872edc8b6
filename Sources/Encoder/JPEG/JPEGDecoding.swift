import Acceleration
import CVAAPI
import Pictures

/// Decides, picture by picture, whether the GPU decodes a camera's Motion JPEG into an encoder's surfaces.
///
/// The first pictures are decoded by the processor as well and compared. A picture that is damaged or unusual is the
/// processor's, which then counts it as damaged or decodes it.
final class JPEGDecoding {
    private let decoder: GPUJPEGDecoder
    private let size: PictureSize
    private let room: PictureSize
    /// Whether an error follows where the GPU is given up.
    private let isRequired: Bool
    private let record: JPEGRecord
    private var state = State.comparing(remaining: comparedPictures)
    private var failures = 0

    private enum State {
        case comparing(remaining: Int)
        case trusted
        case off
    }

    private static let comparedPictures = 3
    /// Failures in a row, of which a driver may have one where memory is short.
    private static let permittedFailures = 2

    /// - Parameters:
    ///   - size: of the stream's pictures.
    ///   - room: the surfaces' size.
    init(
        _ decoder: GPUJPEGDecoder, size: PictureSize, room: PictureSize, isRequired: Bool, record: JPEGRecord
    ) {
        (self.decoder, self.size, self.room) = (decoder, size, room)
        (self.isRequired, self.record) = (isRequired, record)
    }

    /// Whether the next picture is tried on the GPU.
    var isOn: Bool { if case .off = state { false } else { true } }

    /// Returns the picture if the GPU takes it.
    func picture(in bytes: UnsafeRawBufferPointer) throws(EncoderError) -> BaselineJPEG? {
        let picture: BaselineJPEG
        do throws(BaselineJPEG.Unsuitability) {
            picture = try BaselineJPEG(bytes, size: size, room: room)
        } catch {
            switch error {
            case .kind(let reason): try giveUp("the GPU does not decode this JPEG: \(reason)")
            case .damaged(let reason): record.outcome?.reason = "a picture was damaged: \(reason)"
            }
            return nil
        }
        if picture.sampling == .c420 || decoder.takes422 { return picture }
        try giveUp("the GPU makes no 4:2:0 of 4:2:2")
        return nil
    }

    /// Decodes a picture into a surface.
    /// - Returns: whether the surface has it; otherwise it is the processor's.
    func decode(
        _ picture: BaselineJPEG, in bytes: UnsafeRawBufferPointer, into surface: VASurfaceID,
        _ writer: SurfaceWriter
    ) throws(EncoderError) -> Bool {
        let status = decoder.decode(picture, in: bytes, into: surface)
        guard status == VA_STATUS_SUCCESS else {
            failures += 1
            let reason = "the GPU did not decode it: \(String(cString: vaErrorStr(status)))"
            if failures > Self.permittedFailures {
                try giveUp(reason)
            } else {
                record.outcome?.reason = reason
            }
            return false
        }
        failures = 0
        guard case .comparing(let remaining) = state else { return true }
        switch try compare(bytes, with: surface, writer) {
        case .same: state = remaining > 1 ? .comparing(remaining: remaining - 1) : .trusted
        case .different(let reason):
            try giveUp(reason)
            return false
        case .impossible: return false
        }
        return true
    }

    private func compare(
        _ bytes: UnsafeRawBufferPointer, with surface: VASurfaceID, _ writer: SurfaceWriter
    ) throws(EncoderError) -> JPEGComparison.Result {
        var result = JPEGComparison.Result.impossible
        let isRead = try writer.read(from: surface) { planes in
            result = JPEGComparison.result(bytes, size: size, planes)
        }
        return isRead ? result : .different("its pictures cannot be read back from the GPU")
    }

    private func giveUp(_ reason: String) throws(EncoderError) {
        state = .off
        record.outcome?.reason = reason
        if isRequired { throw EncoderError(.unsupported("--jpeg gpu: \(reason)")) }
    }
}
