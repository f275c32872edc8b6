import CFFmpeg
import CVAAPI
import CamAcceleration
import CamPictures
import CamConversion

/// Provides pictures for the VAAPI encoders of one render node, in surfaces from libavutil's pool that the
/// processor writes once. The next picture's surface is mapped before the encoder waits for the current
/// picture: only the encode thread calls the driver.
///
/// A surface that the driver can map is written in place. If mapping fails (radeonsi 22.3 for a fresh pool
/// surface) or gives wrong pictures, the picture is written into a driver's image and copied to the surface.
final class SurfaceInput: EncoderInput {
    let connection: VADisplayConnection
    private let frames: UnsafeMutablePointer<AVBufferRef>
    private let picture: UnsafeMutablePointer<AVFrame>
    private let converters: PictureTreatment.Converters
    private var places: [SurfacePlace] = []
    private let size: PictureSize
    private let codedSize: PictureSize
    /// Whether the frame holds the picture.
    private var isFilled = false
    private let writer: SurfaceWriter
    private(set) var thumbnail: LumaThumbnail?
    /// A note on the upload method if it is not the driver's preferred one.
    private var uploadNote: EncoderNote?
    /// Decodes Motion JPEG on the GPU; nil if the processor decodes, and for other formats.
    private var jpeg: JPEGDecoding?
    private var jpegRecord: (record: JPEGRecord, session: InputSession)?
    /// Shares pictures with the camera; nil if every picture is copied.
    private var sharing: SharedPictures?
    private var sharingRecord: (record: SharingRecord, session: InputSession)?
    private(set) var readsBuffer = false
    /// The surfaces whose rows below the last MCUs of a JPEG are gray.
    private var clearedSurfaces: Set<VASurfaceID> = []

    /// Remarks on converting and uploading pictures, where they are not obvious.
    var notes: [EncoderNote] {
        [uploadNote, converters.note.map(EncoderNote.init(unmet:))].compactMap { $0 }
    }

    init(
        connection: VADisplayConnection, source: PictureFormat, treatment: PictureTreatment,
        size: PictureSize, color: ColorEncoding, upload: UploadMethod
    ) throws(EncoderError) {
        self.connection = connection
        self.size = size
        guard let codedSize = PictureSize((size.width + 15) & ~15, (size.height + 15) & ~15) else {
            throw EncoderError(.unsupported("pictures of \(size) are too large"))
        }
        self.codedSize = codedSize
        writer = SurfaceWriter(connection: connection, size: codedSize, method: upload)
        converters = try EncoderError.mapping { () throws(PictureRequestError) in
            try treatment.converters(of: source, layout: .nv12, color: color)
        }
        frames = try connection.encodingCall {
            SurfacePool.make(on: connection, size: codedSize)
        }.get()
        guard let frame = av_frame_alloc() else {
            var frames: UnsafeMutablePointer<AVBufferRef>? = frames
            av_buffer_unref(&frames)
            throw EncoderError(.openFailed(encoder: connection.node, detail: "out of memory"))
        }
        picture = frame
        // Throws now if the format cannot be converted.
        _ = try place(0)
    }

    /// The upload method to use for later inputs: put if this input had to use it, otherwise auto.
    var upload: UploadMethod { writer.method == .put ? .put : .auto }

    /// Writes a picture, reads it back, and switches to the other upload method if the picture differs.
    func check(isChangeable: Bool) throws(EncoderError) {
        let result = try connection.encodingCall { [self] () -> Result<EncoderNote?, EncoderError> in
            do throws(EncoderError) {
                let surface = try SurfacePool.take(from: frames, into: picture, on: connection)
                defer { release() }
                return .success(
                    try UploadCheck.settle(
                        writer, on: surface, size: codedSize, isChangeable: isChangeable,
                        node: connection.node)
                )
            } catch { return .failure(error) }
        }
        uploadNote = try result.get()
    }

    deinit {
        let (picture, frames, writer, places) = (picture, frames, writer, places)
        for place in places { place.conversion.close() }
        try? connection.call {
            for place in places { place.leave(writer) }
            var (frame, pool) = (Optional(picture), Optional(frames))
            av_frame_free(&frame)
            av_buffer_unref(&pool)
        }
    }

    /// Configures an encoder to take this input's surfaces.
    func attach(to context: UnsafeMutablePointer<AVCodecContext>) {
        context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
        context.pointee.hw_frames_ctx = av_buffer_ref(frames)
    }

    func frame(
        for buffer: borrowing PixelBuffer, in number: Int
    ) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        if isFilled { return picture }
        if let sharing, try sharing.take(buffer, into: picture) {
            // The encoder accepts surfaces of this pool only.
            guard av_buffer_replace(&picture.pointee.hw_frames_ctx, frames) >= 0 else {
                av_frame_unref(picture)
                throw EncoderError(
                    .encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "out of memory"))
            }
            readsBuffer = true
            fill()
            return picture
        }
        buffer.keepMapped(true)
        sharingRecord?.record.countCopied(bytes: buffer.format.minimumLengths.reduce(0, +))
        if let jpeg, try decode(buffer, by: jpeg) {
            if let (record, session) = jpegRecord { record.countGPU(for: session) }
            return picture
        }
        let place = try place(number)
        try open(place)
        do throws(ConversionError) { try place.conversion.take(buffer) } catch { throw EncoderError(error) }
        try place.finish(writer)
        thumbnail = place.conversion.thumbnail
        av_frame_move_ref(picture, place.frame)
        fill()
        jpegRecord?.record.countCPU()
        return picture
    }

    /// Records that the frame holds the picture.
    private func fill() {
        picture.pointee.width = Int32(size.width)
        picture.pointee.height = Int32(size.height)
        isFilled = true
    }

    /// Makes the GPU read pictures in the camera's memory if possible.
    /// - Parameter surfaces: the GPU memory that the camera writes into; nil if nothing is shared.
    func shareMemory(
        _ way: ZeroCopyMode, _ record: SharingRecord, _ surfaces: SharedSurfaces?
    ) throws(EncoderError) {
        let (session, obstacle) = record.begin(on: connection.node)
        sharingRecord = (record, session)
        if let obstacle = way == .off ? "--zero-copy off" : obstacle ?? converters.obstacleToSharing {
            return try copy(because: obstacle, way)
        }
        sharing = SharedPictures(
            of: converters.source, on: connection, way: way, record: record, session: session,
            conversion: surfaces?.takeConversion(of: converters.source, on: connection))
    }

    /// Admits another encoder. Pictures are copied from now on if it would hold more camera buffers than a
    /// reader may.
    /// - Parameter heldPictures: the number of pictures that the encoder reads at once.
    func admitHolder(of heldPictures: Int, _ way: ZeroCopyMode) throws(EncoderError) {
        guard sharing != nil, heldPictures > PixelBufferPool.heldByReader else { return }
        try copy(because: "the encoder would hold \(heldPictures) of the camera's buffers", way)
    }

    private func copy(because obstacle: String, _ way: ZeroCopyMode) throws(EncoderError) {
        sharing = nil
        sharingRecord?.record.refuse(obstacle)
        sharingRecord?.record.note(obstacle)
        try way.allowCopies(because: obstacle)
    }

    /// Decodes a camera's JPEG on the GPU, into a surface.
    /// - Returns: false if the processor must decode the picture.
    private func decode(
        _ buffer: borrowing PixelBuffer, by jpeg: JPEGDecoding
    ) throws(EncoderError) -> Bool {
        guard buffer.format === converters.source, let image = try jpeg.picture(in: buffer.payload)
        else { return false }
        let surface = try SurfacePool.take(from: frames, into: picture, on: connection)
        do throws(EncoderError) {
            // MCUs of 4:2:2 have 8 rows, and coded pictures are padded to multiples of 16. The remaining rows
            // are coded, though not shown.
            if image.coveredHeight < codedSize.height, clearedSurfaces.insert(surface).inserted {
                try writer.clear(surface, from: image.coveredHeight)
            }
            if try jpeg.decode(image, in: buffer.payload, into: surface, writer) {
                fill()
                return true
            }
        } catch {
            av_frame_unref(picture)
            throw error
        }
        av_frame_unref(picture)
        return false
    }

    /// Makes the GPU decode the source's Motion JPEG if possible.
    func decodeJPEG(_ way: JPEGMode, _ record: JPEGRecord) throws(EncoderError) {
        let begun = record.begin(on: connection.node)
        jpegRecord = (record, begun.session)
        let (connection, room) = (connection, codedSize)
        var obstacle = begun.obstacle ?? converters.obstacleToJPEG
        if obstacle == nil {
            if let decoder = try connection.encodingCall({ GPUJPEGDecoder(on: connection, room: room) }) {
                jpeg = JPEGDecoding(
                    decoder, on: connection.node, size: converters.source.size, room: room,
                    isRequired: way == .gpu, record: record)
            } else {
                obstacle = "\(connection.node) does not decode JPEG"
            }
        }
        guard let obstacle else { return }
        record.note(obstacle)
        if way == .gpu { throw EncoderError(.unsupported("--jpeg gpu: \(obstacle)")) }
    }

    func slot(_ number: Int) -> ConversionSlot? {
        // Pictures that the GPU decodes or reads in place need no slot.
        if jpeg?.isLikely == true || sharing?.isLikely == true { return nil }
        guard let place = try? place(number), (try? open(place)) != nil else { return nil }
        return place.conversion
    }

    private func place(_ number: Int) throws(EncoderError) -> SurfacePlace {
        while places.count <= number {
            do throws(ConversionError) {
                let converter = try converters.next()
                guard let frame = av_frame_alloc() else { throw .outOfMemory }
                places.append(
                    SurfacePlace(
                        frame: frame, size: converter.size, conversion: ConversionSlot(converter)))
            } catch { throw EncoderError(error) }
        }
        return places[number]
    }

    /// Gives a place a surface, and opens its slot on the surface's memory. After a damaged picture, the
    /// place still has both.
    private func open(_ place: SurfacePlace) throws(EncoderError) {
        guard !place.conversion.isOpen else { return }
        let mapping = if let mapping = place.mapping { mapping } else { try map(into: place) }
        place.mapping = mapping
        place.conversion.open(
            on: PictureSurface(
                size: place.size, paddedSize: codedSize, luma: mapping.planes.luma,
                chroma: .interleaved(mapping.planes.chroma)))
    }

    private func map(into place: SurfacePlace) throws(EncoderError) -> SurfaceWriter.Mapping {
        let surface = try SurfacePool.take(from: frames, into: place.frame, on: connection)
        do throws(EncoderError) { return try writer.map(surface) } catch {
            av_frame_unref(place.frame)
            throw error
        }
    }

    func disableExtras() -> String? {
        if let (record, session) = jpegRecord, record.disable(for: session) { return session.node }
        if let (record, session) = sharingRecord, record.disable(for: session) { return session.node }
        return nil
    }

    func release() {
        av_frame_unref(picture)
        (isFilled, readsBuffer) = (false, false)
    }
}

/// A surface that a conversion writes.
private final class SurfacePlace {
    /// Holds the surface while it is mapped.
    let frame: UnsafeMutablePointer<AVFrame>
    /// The picture's size.
    let size: PictureSize
    let conversion: ConversionSlot
    var mapping: SurfaceWriter.Mapping?

    init(frame: UnsafeMutablePointer<AVFrame>, size: PictureSize, conversion: ConversionSlot) {
        (self.frame, self.size, self.conversion) = (frame, size, conversion)
    }

    /// Moves the written picture into the surface, which the frame keeps.
    func finish(_ writer: SurfaceWriter) throws(EncoderError) {
        guard let mapping = mapping.take() else { return }
        do throws(EncoderError) { try writer.finish(mapping) } catch {
            av_frame_unref(frame)
            throw error
        }
    }

    /// Releases everything; calls the driver.
    func leave(_ writer: SurfaceWriter) {
        if let mapping = mapping.take() { writer.discard(mapping) }
        var frame = Optional(frame)
        av_frame_free(&frame)
    }
}

/// Pools of NV12 surfaces, which libavutil manages on camrec's connection.
enum SurfacePool {
    /// Creates a pool that grows on demand. Surfaces created in advance would delay the first picture, by 1
    /// ms each on radeonsi.
    ///
    /// Calls the driver: use it inside a connection's `call`.
    static func make(
        on connection: VADisplayConnection, size: PictureSize
    ) -> Result<UnsafeMutablePointer<AVBufferRef>, EncoderError> {
        cffmpeg_keep_log()
        func failed(_ result: Int32) -> Result<UnsafeMutablePointer<AVBufferRef>, EncoderError> {
            .failure(
                EncoderError(
                    .openFailed(encoder: "VAAPI on \(connection.node)", detail: LibavMessage.reason(result))))
        }
        var (device, result) = connection.makeDevice()
        defer { av_buffer_unref(&device) }
        guard let device else { return failed(result) }
        var frames = av_hwframe_ctx_alloc(device)
        guard let pool = frames else { return failed(Int32(CFFMPEG_OUT_OF_MEMORY)) }
        let context = UnsafeMutableRawPointer(pool.pointee.data)
            .assumingMemoryBound(to: AVHWFramesContext.self)
        context.pointee.format = AV_PIX_FMT_VAAPI
        context.pointee.sw_format = AV_PIX_FMT_NV12
        context.pointee.width = Int32(size.width)
        context.pointee.height = Int32(size.height)
        result = av_hwframe_ctx_init(pool)
        guard result >= 0 else {
            av_buffer_unref(&frames)
            return failed(result)
        }
        return .success(pool)
    }

    /// Takes a surface from a pool into a frame.
    static func take(
        from frames: UnsafeMutablePointer<AVBufferRef>, into frame: UnsafeMutablePointer<AVFrame>,
        on connection: VADisplayConnection
    ) throws(EncoderError) -> VASurfaceID {
        let result = av_hwframe_get_buffer(frames, frame, 0)
        guard result >= 0 else {
            throw EncoderError(
                .encodeFailed(
                    encoder: "VAAPI on \(connection.node)",
                    detail: "no surface: \(LibavMessage.reason(result))"))
        }
        return VASurfaceID(truncatingIfNeeded: UInt(bitPattern: frame.pointee.data.3))
    }
}
