import Acceleration
import CVAAPI
import Glibc
import Pictures

/// Decides, picture by picture, whether an encoder reads a camera's picture in the memory that the camera wrote it into.
///
/// The first picture is read back from the GPU and compared with what the processor sees, byte for byte.
final class SharedPictures {
    private let connection: VADisplayConnection
    private let format: PictureFormat
    /// Whether an error follows where a picture must be copied.
    private let isRequired: Bool
    private let record: SharingRecord
    private var isGivenUp = false
    private var isTrusted = false
    /// Surfaces in the memory of a camera.
    private var imported: [Import] = []
    /// Reads surfaces of the camera's size.
    private let reader: SurfaceWriter

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
    var isLikely: Bool { !isGivenUp }

    /// Returns the surface that is the picture; nil if it must be copied. Called by the thread that encodes.
    func surface(of buffer: borrowing PixelBuffer) throws(EncoderError) -> VASurfaceID? {
        // An encoder that is opened again may take over the surfaces, and this with them.
        if record.hasGivenUp(connection.node) { isGivenUp = true }
        guard !isGivenUp, buffer.format === format else { return nil }
        guard let shared = buffer.shared else {
            try giveUp("the camera does not share its memory", isFault: false, buffer)
            return nil
        }
        let surface: SharedSurface
        var memory = SharingOutcome.Memory.gpu
        if let own = shared.memory.owner as? SharedSurface, own.connection === connection {
            surface = own
        } else {
            memory = .camera
            switch importing(shared.memory, at: shared.offset) {
            case .success(let imported): surface = imported
            case .failure(let refusal):
                try giveUp(
                    "the GPU does not take the camera's memory: \(refusal.reason)", isFault: true, buffer)
                return nil
            }
        }
        if !isTrusted {
            guard try isRight(surface.id, buffer) else { return nil }
            isTrusted = true
            buffer.keepMapped(false)
        }
        record.countShared(memory)
        return surface.id
    }

    private func importing(
        _ memory: DMABuffer, at offset: Int
    ) -> Result<SharedSurface, SharedSurface.Refusal> {
        if let known = imported.first(where: { $0.memory === memory && $0.offset == offset }) {
            return .success(known.surface)
        }
        // Those of a camera that was away since.
        if imported.count == PixelBufferPool.maximumCount { imported.removeAll(keepingCapacity: true) }
        let result = SharedSurface.make(in: memory, at: offset, format, on: connection)
        if case .success(let surface) = result {
            imported.append(Import(memory: memory, offset: offset, surface: surface))
        }
        return result
    }

    private func isRight(
        _ surface: VASurfaceID, _ buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> Bool {
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
        if isRead, isSame { return true }
        try giveUp(
            isRead
                ? "the GPU sees another picture in the shared memory"
                : "what the GPU sees in the shared memory cannot be read back", isFault: true, buffer)
        return false
    }

    /// - Parameter isFault: whether the GPU is to blame, so that it is not tried again.
    private func giveUp(
        _ reason: String, isFault: Bool, _ buffer: borrowing PixelBuffer
    ) throws(EncoderError) {
        isGivenUp = true
        buffer.keepMapped(true)
        if isFault { record.giveUp(connection.node, reason) } else { record.note(reason) }
        if isRequired { throw EncoderError(.unsupported("--zero-copy on: \(reason)")) }
    }
}
