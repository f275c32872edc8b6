import CamAcceleration
import CFFmpeg
import CVAAPI
import CamPictures

/// Decides, picture by picture, whether an encoder reads a camera's picture in the memory that the camera wrote it into.
///
/// The first picture of a camera's buffers is read back from the GPU and compared with what the processor sees.
final class SharedPictures {
    private let connection: VADisplayConnection
    private let format: PictureFormat
    private let record: SharingRecord
    private let verdict: SharingVerdict
    /// Surfaces in the memory of a camera, one for each of its buffers.
    private var imported: [Import] = []
    /// Reads surfaces of the camera's size.
    private let reader: SurfaceWriter
    /// Makes NV12 of the camera's pictures; nil if they are NV12.
    private var conversion: SharedConversion?

    private struct Import {
        let memory: DMABuffer
        let offset: Int
        let surface: SharedSurface
    }

    /// - Parameters:
    ///   - session: the encoders, as the record knows them.
    ///   - conversion: what converts the format there, if that is open already.
    init(
        of format: PictureFormat, on connection: VADisplayConnection, way: ZeroCopyWay,
        record: SharingRecord, session: InputSession, conversion: SharedConversion?
    ) {
        (self.connection, self.format, self.conversion) = (connection, format, conversion)
        self.record = record
        verdict = SharingVerdict(way, record, session)
        imported.reserveCapacity(PixelBufferPool.maximumCount)
        reader = SurfaceWriter(connection: connection, size: format.size, method: .auto)
    }

    /// Whether the next picture will probably be read where it is, so that none need be copied ahead.
    var isLikely: Bool { verdict.isLikely }

    /// Gives a frame the picture's surface, or one that the GPU converts it into. Called by the thread that encodes.
    /// - Returns: false if the picture must be copied.
    func take(
        _ buffer: borrowing PixelBuffer, into frame: UnsafeMutablePointer<AVFrame>
    ) throws(EncoderError) -> Bool {
        guard let (surface, memory) = try surface(of: buffer) else { return false }
        let id: VASurfaceID
        if format.pixelFormat != .nv12 {
            if conversion == nil { conversion = try SharedConversion(of: format, on: connection) }
            guard let conversion else {
                try verdict.giveUp("the GPU's driver does not convert \(format.pixelFormat)")
                return false
            }
            switch try conversion.convert(surface, into: frame) {
            case .success(let target): id = target
            case .failure(let refusal):
                try verdict.giveUp("the GPU does not convert the camera's pictures: \(refusal.reason)")
                return false
            }
        } else {
            id = surface.id
            try hold(surface, in: frame)
        }
        if verdict.isOpen {
            let result = try comparison(of: id, buffer)
            do throws(EncoderError) { try verdict.follow(result) } catch {
                av_frame_unref(frame)
                throw error
            }
            guard verdict.isLikely else {
                av_frame_unref(frame)
                return false
            }
            if !verdict.isOpen { buffer.keepMapped(false) }
        }
        record.countShared(memory)
        return true
    }

    /// Makes a frame an owner of a surface.
    private func hold(_ surface: SharedSurface, in frame: UnsafeMutablePointer<AVFrame>) throws(EncoderError)
    {
        frame.pointee.buf.0 = surface.reference()
        guard frame.pointee.buf.0 != nil else {
            throw EncoderError(
                .encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "out of memory"))
        }
        frame.pointee.data.3 = UnsafeMutablePointer(bitPattern: UInt(surface.id))
        frame.pointee.format = AV_PIX_FMT_VAAPI.rawValue
    }

    /// Returns the surface that is the picture; nil if it must be copied.
    private func surface(
        of buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> (SharedSurface, SharingOutcome.Memory)? {
        guard buffer.format === format else { return nil }
        // An encoder that is opened again may take over the surfaces, and this with them.
        let shared = buffer.shared
        if verdict.begin(shared?.pool) { imported.removeAll(keepingCapacity: true) }
        guard try verdict.allowsUse(isShared: shared != nil), let picture = shared else { return nil }
        if let own = picture.memory.owner as? SharedSurface, own.connection === connection,
            picture.offset == 0
        {
            return (own, .gpu)
        }
        switch importing(picture) {
        case .success(let imported): return (imported, .camera)
        case .failure(let refusal):
            try verdict.giveUp("the GPU does not take the camera's memory: \(refusal.reason)")
            return nil
        }
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

    /// Compares the NV12 that the GPU sees with the processor's picture.
    /// - Returns: nil if it cannot be read back.
    private func comparison(
        of surface: VASurfaceID, _ buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> SharedComparison.Result? {
        record.countCompared(bytes: format.minimumLengths.reduce(0, +))
        var result = SharedComparison.Result?.none
        _ = try reader.read(from: surface) { seen in
            // Not before: a processor that looks may write its caches back, and the GPU sees the picture only then.
            var planes: [UnsafeRawBufferPointer] = []
            for number in format.planes.indices { planes.append(buffer.plane(number)) }
            var comparison = SharedComparison(format, planes)
            result = comparison.result(of: seen)
        }
        return result
    }
}
