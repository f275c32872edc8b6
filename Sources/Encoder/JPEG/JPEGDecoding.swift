import CFFmpeg
import CVAAPI
import CYUV
import CamAcceleration
import CamPictures
import Synchronization
import CamConversion

/// Decides, picture by picture, whether the GPU decodes a camera's Motion JPEG into an encoder's surfaces.
///
/// The processor also decodes the first pictures, for comparison. Damaged and unusual pictures go to the
/// processor, which counts or decodes them.
final class JPEGDecoding {
    private let node: String
    /// Nil once GPU decoding is given up.
    private var decoder: GPUJPEGDecoder?
    private let size: PictureSize
    private let room: PictureSize
    /// Whether giving up the GPU is an error.
    private let isRequired: Bool
    private let record: JPEGRecord
    private var hasDecoded = false
    /// Consecutive pictures left to the processor, and consecutive pictures that the driver failed to decode.
    private var skipped = 0
    private var failures = 0
    /// The number of compared pictures, and of those with enough contrast to prove something.
    private var compared = 0
    private var telling = 0

    /// Comparisons until a GPU is trusted. Gray pictures prove little, but a camera at night has no others.
    private static let wantedComparisons = (telling: 3, all: 30)
    /// Consecutive unsuitable pictures until the GPU is given up. At first they mean that the camera sends
    /// another kind of JPEG, later that a cable is bad.
    private static let patience = (first: 3, later: 30)
    private static let permittedFailures = 2

    /// - Parameters:
    ///   - size: the size of the stream's pictures.
    ///   - room: the size of the surfaces.
    init(
        _ decoder: GPUJPEGDecoder, on node: String, size: PictureSize, room: PictureSize, isRequired: Bool,
        record: JPEGRecord
    ) {
        (self.decoder, self.node, self.size, self.room) = (decoder, node, size, room)
        (self.isRequired, self.record) = (isRequired, record)
    }

    /// Whether the GPU will probably decode the next picture. The processor then does not decode it ahead.
    var isLikely: Bool { decoder != nil && skipped == 0 }

    /// Parses a picture for the GPU; nil if the processor must decode it.
    func picture(in bytes: UnsafeRawBufferPointer) throws(EncoderError) -> BaselineJPEG? {
        // A reopened encoder may take over the surfaces together with this decoder.
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
    /// - Returns: whether the surface holds the picture; otherwise the processor must decode it.
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

    /// Compares a decoded picture with the processor's result.
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

    /// - Parameter isFault: whether the GPU is at fault and must not be tried again.
    private func giveUp(_ reason: String, isFault: Bool) throws(EncoderError) {
        if isFault { record.giveUp(node, reason) }
        if isRequired { throw EncoderError(.unsupported("--jpeg gpu: \(reason)")) }
        decoder = nil
    }
}

// MARK: - Record

/// A recording's knowledge about GPUs that decode Motion JPEG, and its counts of decoded pictures, across all
/// successive encoders.
///
/// Safe to use from any thread: a thread that hung in a driver may return after its replacement has started.
final class JPEGRecord: Sendable {
    private let state = Mutex(State())

    private struct State {
        var outcome: JPEGOutcome?
        /// The combinations of node and subsampling whose pictures passed the comparison.
        var trusted: Set<Kind> = []
        /// By render node, why its GPU no longer decodes.
        var obstacles: [String: String] = [:]
    }

    private struct Kind: Hashable {
        let node: String
        let sampling: BaselineJPEG.Sampling
    }

    /// Nil until a GPU's encoder is opened for Motion JPEG.
    var outcome: JPEGOutcome? { state.withLock { $0.outcome } }

    /// Records that encoders are opened on a render node.
    /// - Returns: the encoders' session, and why their GPU must not decode, or nil if it may.
    func begin(on node: String) -> (session: InputSession, obstacle: String?) {
        state.withLock { state in
            state.outcome = state.outcome ?? JPEGOutcome()
            return (InputSession(on: node), state.obstacles[node])
        }
    }

    /// Whether a GPU must no longer decode.
    func hasGivenUp(_ node: String) -> Bool { state.withLock { $0.obstacles[node] != nil } }

    /// Counts a picture that the GPU decoded for a session's encoders. From now on, decoding may be why they
    /// fail.
    func countGPU(for session: InputSession) {
        session.noteUse()
        state.withLock { $0.outcome?.gpuPictures += 1 }
    }

    /// Counts a picture that the processor has decoded.
    func countCPU() { state.withLock { $0.outcome?.cpuPictures += 1 } }

    /// Records why the processor decodes one picture, or all pictures.
    func note(_ reason: String) { state.withLock { $0.outcome?.reason = reason } }

    /// Whether a GPU's pictures with this subsampling no longer need a comparison.
    func trusts(_ node: String, _ sampling: BaselineJPEG.Sampling) -> Bool {
        state.withLock { $0.trusted.contains(Kind(node: node, sampling: sampling)) }
    }

    func trust(_ node: String, _ sampling: BaselineJPEG.Sampling) {
        state.withLock { _ = $0.trusted.insert(Kind(node: node, sampling: sampling)) }
    }

    /// Records that a GPU must not decode for the rest of the recording.
    func giveUp(_ node: String, _ reason: String) {
        state.withLock { state in
            state.obstacles[node] = reason
            state.outcome?.reason = reason
        }
    }

    /// Records that an encoder failed. If its GPU also decoded JPEG, decoding may have been the cause, and
    /// the next encoder is opened without it. Each encoder of a session may cause that.
    /// - Returns: whether the GPU decoded JPEG in this session.
    func disable(for session: InputSession) -> Bool {
        guard session.mayBeCause else { return false }
        let reason = "the encoder failed while its GPU decoded JPEG as well"
        state.withLock { state in
            state.obstacles[session.node] = reason
            state.outcome?.reason = reason
        }
        return true
    }
}

/// Who decoded a camera's Motion JPEG, for encoders on a GPU.
public struct JPEGOutcome: Sendable, Hashable {
    /// Pictures that the GPU decoded.
    public internal(set) var gpuPictures = 0
    /// Pictures that the processor decoded, because the GPU does not decode, or because the pictures were
    /// damaged or unusual.
    public internal(set) var cpuPictures = 0
    /// The latest reason why the processor decoded; nil if the GPU decoded every picture.
    public internal(set) var reason: String?
}

/// The decoder of a camera's Motion JPEG.
public enum JPEGMode: String, Sendable, Hashable, CaseIterable {
    /// The GPU if its pictures are correct, otherwise the processor.
    case auto
    /// The GPU; an error if it cannot decode.
    case gpu
    /// The processor.
    case cpu
}

// MARK: - Comparison

/// Compares a picture that a GPU decoded with libjpeg-turbo's result.
///
/// Inverse transforms round differently: samples may differ by 2, and by less than a half in the mean. For
/// 4:2:2, a row of chroma may lie anywhere between the two source rows.
struct JPEGComparison {
    enum Result: Hashable {
        /// The pictures agree. The comparison is telling if the picture has light and dark parts, and colors.
        case same(isTelling: Bool)
        /// The pictures differ; the text says how.
        case different(String)
        /// The picture is damaged, or memory ran out.
        case impossible
    }

    private static let largestDifference = 2

    private var luma = Total()
    private var cb = Total()
    private var cr = Total()

    private struct Total {
        private(set) var largest = 0
        private var sum = 0
        private var count = 0

        /// Whether the samples span at least 16 levels.
        var varies: Bool { range.greatest - range.least >= 16 }

        /// Whether the mean difference is below a half.
        var isClose: Bool { 2 * sum < count }

        /// The smallest and the largest sample.
        private(set) var range = (least: 255, greatest: 0)

        mutating func note(_ difference: Int, at sample: UInt8) {
            range = (min(range.least, Int(sample)), max(range.greatest, Int(sample)))
            largest = max(largest, difference)
            sum += difference
            count += 1
        }
    }

    /// - Parameters:
    ///   - bytes: the JPEG.
    ///   - size: the size of the stream's pictures.
    ///   - planes: the GPU's result.
    static func result(
        _ bytes: UnsafeRawBufferPointer, size: PictureSize, _ planes: SurfaceWriter.Planes
    ) -> Result {
        guard let decoder = cyuv_jpeg_create() else { return .impossible }
        defer { cyuv_jpeg_destroy(decoder) }
        var layout = cyuv_jpeg_layout()
        guard
            cyuv_jpeg_begin(
                decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                Int32(size.width), Int32(size.height), &layout) == CYUV_JPEG_OK, layout.plane_count == 3
        else { return .impossible }
        var comparison = JPEGComparison()
        return comparison.compare(decoder, layout, size, planes) ? comparison.verdict : .impossible
    }

    private var verdict: Result {
        let largest = max(luma.largest, cb.largest, cr.largest)
        if largest > Self.largestDifference {
            return .different("the GPU's pictures differ from the processor's by up to \(largest) levels")
        }
        guard luma.isClose, cb.isClose, cr.isClose else {
            return .different("the GPU's pictures differ from the processor's by half a level in the mean")
        }
        return .same(isTelling: luma.varies && cb.varies && cr.varies)
    }

    private mutating func compare(
        _ decoder: OpaquePointer, _ layout: cyuv_jpeg_layout, _ size: PictureSize,
        _ planes: SurfaceWriter.Planes
    ) -> Bool {
        let stride = (size.width + 31) / 32 * 32 + 64
        let rows = Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * stride * rows)
        defer { memory.deallocate() }
        let band = Band(
            luma: memory, cb: memory + stride * rows, cr: memory + 2 * stride * rows, stride: stride,
            chromaStep: layout.vertical_subsampling == 2 ? 1 : 2)
        var row = 0
        while row < size.height {
            guard cyuv_jpeg_read_band(decoder, memory, stride) == CYUV_JPEG_OK else { return false }
            let count = min(Int(layout.band_rows), size.height - row)
            compareLuma(band, row..<row + count, size.width, planes.luma)
            compareChroma(band, row..<row + count, size.width, planes.chroma)
            row += Int(layout.band_rows)
        }
        return true
    }

    /// A band of libjpeg-turbo's result.
    private struct Band {
        let luma, cb, cr: UnsafeMutablePointer<UInt8>
        let stride: Int
        /// The number of chroma rows in the band per chroma row of the picture.
        let chromaStep: Int
    }

    private mutating func compareLuma(
        _ band: Band, _ rows: Range<Int>, _ width: Int, _ plane: PictureSurface.Plane
    ) {
        for row in rows {
            let (reference, found) = (
                band.luma + (row - rows.lowerBound) * band.stride, plane.base + row * plane.stride
            )
            for column in 0..<width {
                let difference = abs(Int(reference[column]) - Int(found[column]))
                luma.note(difference, at: reference[column])
            }
        }
    }

    private mutating func compareChroma(
        _ band: Band, _ rows: Range<Int>, _ width: Int, _ plane: PictureSurface.Plane
    ) {
        for row in 0..<rows.count / 2 {
            let found = plane.base + (rows.lowerBound / 2 + row) * plane.stride
            let upper = row * band.chromaStep * band.stride
            let lower = upper + (band.chromaStep - 1) * band.stride
            for column in 0..<width / 2 {
                let (one, other) = (upper + column, lower + column)
                cb.note(
                    Self.distance(found[2 * column], band.cb[one], band.cb[other]), at: band.cb[one])
                cr.note(
                    Self.distance(found[2 * column + 1], band.cr[one], band.cr[other]), at: band.cr[one])
            }
        }
    }

    /// The distance of a value from the range between two others.
    private static func distance(_ value: UInt8, _ one: UInt8, _ other: UInt8) -> Int {
        max(0, Int(min(one, other)) - Int(value), Int(value) - Int(max(one, other)))
    }
}

extension PictureTreatment.Converters {
    /// Why a GPU cannot decode these pictures instead of the processor; nil if it can. A GPU only
    /// decodes, without any treatment.
    var obstacleToJPEG: String? {
        if hidesParts { return "--privacy is drawn by the processor" }
        if drawsText { return "--overlay is drawn by the processor" }
        if !framing.isPlain { return "\(framing) is done by the processor" }
        if makesThumbnails { return "--on-motion looks at what the processor decodes" }
        return source.color == color ? nil : "colours are changed by the processor"
    }
}
