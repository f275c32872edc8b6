import Acceleration
import CFFmpeg
import CVAAPI
import Pictures

/// Decides, picture by picture, whether an encoder reads a camera's picture in the memory that the camera wrote it into.
///
/// The first picture of a camera's buffers is read back from the GPU and compared with what the processor sees.
final class SharedPictures {
    private let connection: VADisplayConnection
    private let format: PictureFormat
    private let way: ZeroCopyWay
    private let record: SharingRecord
    private let session: InputSession
    /// The camera's buffers; a camera that is opened again has others.
    private weak var pool: PixelBufferPool?
    private var verdict = Verdict.open
    /// How many of their pictures were compared.
    private var compared = 0
    /// Surfaces in the memory of a camera, one for each of its buffers.
    private var imported: [Import] = []
    /// Reads surfaces of the camera's size.
    private let reader: SurfaceWriter
    /// Makes NV12 of the camera's pictures; nil if they are NV12.
    private var conversion: SharedConversion?

    /// Grey pictures say little, but a camera at night has no others.
    private static let mostComparisons = 10

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

    /// - Parameters:
    ///   - session: the encoders, as the record knows them.
    ///   - conversion: what converts the format there, if that is open already.
    init(
        of format: PictureFormat, on connection: VADisplayConnection, way: ZeroCopyWay,
        record: SharingRecord, session: InputSession, conversion: SharedConversion?
    ) {
        (self.session, self.conversion) = (session, conversion)
        (self.connection, self.format, self.way) = (connection, format, way)
        self.record = record
        imported.reserveCapacity(PixelBufferPool.maximumCount)
        reader = SurfaceWriter(connection: connection, size: format.size, method: .auto)
    }

    /// Whether the next picture will probably be read where it is, so that none need be copied ahead.
    var isLikely: Bool { verdict != .copied }

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
                return try giveUp("the GPU's driver does not convert \(format.pixelFormat)")
            }
            switch try conversion.convert(surface, into: frame) {
            case .success(let target): id = target
            case .failure(let refusal):
                return try giveUp("the GPU does not convert the camera's pictures: \(refusal.reason)")
            }
        } else {
            id = surface.id
            try hold(surface, in: frame)
        }
        if verdict == .open, let fault = try fault(of: id, buffer) {
            av_frame_unref(frame)
            return try giveUp(fault)
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
        follow(buffer.shared?.pool)
        if verdict != .copied, let reason = record.obstacle(on: connection.node) {
            _ = try copy(because: reason)
        }
        guard verdict != .copied else { return nil }
        guard let picture = buffer.shared else {
            _ = try copy(because: record.refusal ?? "the camera does not share its memory")
            return nil
        }
        // From here on a failure may be due to shared memory.
        guard record.noteUse(by: session) else { return nil }
        if let own = picture.memory.owner as? SharedSurface, own.connection === connection,
            picture.offset == 0
        {
            return (own, .gpu)
        }
        switch importing(picture) {
        case .success(let imported): return (imported, .camera)
        case .failure(let refusal):
            _ = try giveUp("the GPU does not take the camera's memory: \(refusal.reason)")
            return nil
        }
    }

    /// Starts over when the camera has new buffers. Pictures in the encoder keep the surfaces that they need.
    private func follow(_ pool: PixelBufferPool?) {
        guard pool !== self.pool else { return }
        self.pool = pool
        imported.removeAll(keepingCapacity: true)
        if !record.hasGivenUp(connection.node) { (verdict, compared) = (.open, 0) }
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

    /// What is wrong with the NV12 that the GPU sees; nil if it is the processor's picture, as far as one can tell. The last
    /// comparison is that of a picture with something in it.
    private func fault(
        of surface: VASurfaceID, _ buffer: borrowing PixelBuffer
    ) throws(EncoderError) -> String? {
        record.countCompared(bytes: format.minimumLengths.reduce(0, +))
        var result = SharedComparison.Result?.none
        _ = try reader.read(from: surface) { seen in
            // Not before: a processor that looks may write its caches back, and the GPU sees the picture only then.
            var planes: [UnsafeRawBufferPointer] = []
            for number in format.planes.indices { planes.append(buffer.plane(number)) }
            var comparison = SharedComparison(format, planes)
            result = comparison.result(of: seen)
        }
        switch result {
        case .same(let isTelling):
            compared += 1
            if isTelling || compared == Self.mostComparisons {
                verdict = .shared
                buffer.keepMapped(false)
            }
            return nil
        case .different: return "the GPU sees another picture in the shared memory"
        case nil: return "what the GPU sees in the shared memory cannot be read back"
        }
    }

    /// Copies pictures from now on, for the rest of the recording: the GPU is to blame.
    /// - Returns: false, as nothing is shared.
    private func giveUp(_ reason: String) throws(EncoderError) -> Bool {
        record.giveUp(reason, by: session)
        return try copy(because: reason)
    }

    /// Copies the pictures of these buffers.
    private func copy(because reason: String) throws(EncoderError) -> Bool {
        verdict = .copied
        record.note(reason)
        try way.allowCopies(because: reason)
        return false
    }
}
