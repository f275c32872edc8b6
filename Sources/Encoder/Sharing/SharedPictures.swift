import Acceleration
import CVAAPI
import Glibc
import Pictures

/// Decides, picture by picture, whether an encoder reads a camera's picture in the memory that the camera wrote it into.
///
/// The first picture of a camera's buffers is read back from the GPU and compared with what the processor sees, byte for
/// byte.
final class SharedPictures {
    private let connection: VADisplayConnection
    private let format: PictureFormat
    /// Whether an error follows where a picture must be copied.
    private let isRequired: Bool
    private let record: SharingRecord
    /// The camera's buffers; a camera that is opened again has others.
    private weak var pool: PixelBufferPool?
    private var verdict = Verdict.open
    /// Surfaces in the memory of a camera, one for each of its buffers.
    private var imported: [Import] = []
    /// Reads surfaces of the camera's size.
    private let reader: SurfaceWriter

    /// On the camera's buffers.
    private enum Verdict {
        case open
        case shared
        case copied
    }

    private struct Import {
        let memory: DMABuffer
        let offset: Int
        let surface: SharedSurface
    }

    init(
        of format: PictureFormat, on connection: VADisplayConnection, isRequired: Bool,
        record: SharingRecord
    ) {
        (self.connection, self.format, self.isRequired) = (connection, format, isRequired)
        self.record = record
        imported.reserveCapacity(PixelBufferPool.maximumCount)
        reader = SurfaceWriter(connection: connection, size: format.size, method: .auto)
    }

    /// Whether the next picture will probably be read where it is, so that none need be copied ahead.
    var isLikely: Bool { verdict != .copied }

    /// Returns the surface that is the picture; nil if it must be copied. Called by the thread that encodes.
    func surface(of buffer: borrowing PixelBuffer) throws(EncoderError) -> SharedSurface? {
        guard buffer.format === format else { return nil }
        // An encoder that is opened again may take over the surfaces, and this with them.
        if record.hasGivenUp(connection.node) { verdict = .copied }
        follow(buffer.shared?.pool)
        guard verdict != .copied else { return nil }
        guard let picture = buffer.shared else {
            return try copy(because: record.refusal ?? "the camera does not share its memory")
        }
        let (surface, memory): (SharedSurface, SharingOutcome.Memory)
        if let own = picture.memory.owner as? SharedSurface, own.connection === connection {
            (surface, memory) = (own, .gpu)
        } else {
            switch importing(picture) {
            case .success(let imported): (surface, memory) = (imported, .camera)
            case .failure(let refusal):
                return try giveUp("the GPU does not take the camera's memory: \(refusal.reason)")
            }
        }
        if verdict == .open {
            if let fault = try fault(of: surface.id, buffer) { return try giveUp(fault) }
            verdict = .shared
            buffer.keepMapped(false)
        }
        record.countShared(memory)
        return surface
    }

    /// Begins anew with other buffers of the camera's. Pictures in the encoder keep the surfaces that they need.
    private func follow(_ pool: PixelBufferPool?) {
        guard pool !== self.pool else { return }
        self.pool = pool
        imported.removeAll(keepingCapacity: true)
        if !record.hasGivenUp(connection.node) { verdict = .open }
    }

    private func importing(_ picture: SharedPicture) -> Result<SharedSurface, SharedSurface.Refusal> {
        let known = imported.first { $0.memory === picture.memory && $0.offset == picture.offset }
        if let known { return .success(known.surface) }
        // A driver that moves its pictures about.
        if imported.count == PixelBufferPool.maximumCount { imported.removeFirst() }
        let result = SharedSurface.make(in: picture.memory, at: picture.offset, format, on: connection)
        if case .success(let surface) = result {
            imported.append(Import(memory: picture.memory, offset: picture.offset, surface: surface))
        }
        return result
    }

    /// What is wrong with the picture that the GPU sees; nil if it is the processor's, byte for byte.
    private func fault(
        of surface: VASurfaceID, _ buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> String? {
        let (luma, chroma) = (buffer.plane(0), buffer.plane(1))
        let format = format
        record.countCompared(bytes: luma.count + chroma.count)
        var isSame = true
        let isRead = try reader.read(from: surface) { planes in
            for (plane, bytes, place) in [
                (planes.luma, luma, format.planes[0]), (planes.chroma, chroma, format.planes[1]),
            ] {
                guard let start = bytes.baseAddress else { return }
                for row in 0..<place.rows
                where memcmp(plane.base + row * plane.stride, start + row * place.stride, place.rowBytes) != 0
                {
                    isSame = false
                }
            }
        }
        if !isRead { return "what the GPU sees in the shared memory cannot be read back" }
        return isSame ? nil : "the GPU sees another picture in the shared memory"
    }

    /// Copies pictures from now on, for the rest of the recording: the GPU is to blame.
    private func giveUp(_ reason: String) throws(EncoderError) -> SharedSurface? {
        record.giveUp(connection.node, reason)
        return try copy(because: reason)
    }

    /// Copies the pictures of these buffers.
    private func copy(because reason: String) throws(EncoderError) -> SharedSurface? {
        verdict = .copied
        record.note(reason)
        if isRequired { throw EncoderError(.unsupported("--zero-copy on: \(reason)")) }
        return nil
    }
}
