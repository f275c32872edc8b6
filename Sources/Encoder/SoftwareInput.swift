import CFFmpeg
import CamPictures
import CamConversion

/// Provides pictures for libx264 and libx265: the camera's own planes if the encoders can read them,
/// otherwise one conversion.
final class SoftwareInput: EncoderInput {
    private let picture: UnsafeMutablePointer<AVFrame>
    /// Marks the frame's memory as reference counted; otherwise libavcodec would copy every picture. The mark
    /// need not be true, because both libraries copy a picture when they take it.
    private let anchor: UnsafeMutablePointer<AVBufferRef>
    private let source: Source

    private enum Source {
        /// The camera's planes, in libavcodec's order.
        case planes([Int])
        case converted(PictureTreatment.Converters)
    }

    private let format: PictureFormat
    private let size: PictureSize
    private var places: [MemoryPlace] = []
    /// Takes thumbnails of planes that are not converted.
    private var sampler: LumaSampler?
    private(set) var thumbnail: LumaThumbnail?

    /// Whether the frame holds the picture.
    private var isFilled = false

    /// libavcodec's pixel format of the frames that `frame(for:in:)` returns.
    let pixelFormat: AVPixelFormat
    /// Remarks on converting pictures, where they are not obvious.
    let notes: [EncoderNote]

    /// - Parameters:
    ///   - treatment: the treatment of all pictures.
    ///   - size: the coded size: the treated picture's size, rounded up to even.
    ///   - notesConversion: whether to note that an option is why pictures are converted.
    ///   - arrangements: the arrangements that every encoder accepts, including I420.
    init(
        source format: PictureFormat, treatment: PictureTreatment, size: PictureSize, color: ColorEncoding,
        notesConversion: Bool = true, arrangements: Set<PassthroughLayout.Arrangement>
    ) throws(EncoderError) {
        let passthrough = PassthroughLayout(format, color: color).flatMap {
            arrangements.contains($0.arrangement) ? $0 : nil
        }
        if let passthrough, treatment.isPlain {
            pixelFormat = passthrough.arrangement.libavcodecFormat
            source = .planes(passthrough.planes)
            sampler = treatment.leavesThumbnails ? LumaSampler(format.size) : nil
            notes = []
        } else {
            let layout: PictureSurface.Layout = arrangements.contains(.nv12) ? .nv12 : .i420
            pixelFormat = layout == .nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P
            let converters = try EncoderError.mapping { () throws(PictureRequestError) in
                try treatment.converters(of: format, layout: layout, color: color)
            }
            source = .converted(converters)
            notes = [
                converters.note.map(EncoderNote.init(unmet:)),
                passthrough == nil || !notesConversion
                    ? nil
                    : EncoderNote(
                        "each picture is converted for \(treatment.options); without, the encoder reads "
                            + "the camera's memory", contradictsRequest: false),
            ].compactMap { $0 }
        }
        (self.format, self.size) = (format, size)
        // Allocated after all other throwing calls: a partly initialized object would not free them.
        guard let anchor = av_buffer_alloc(1) else { throw Self.outOfMemory }
        guard let frame = av_frame_alloc() else {
            var buffer: UnsafeMutablePointer<AVBufferRef>? = anchor
            av_buffer_unref(&buffer)
            throw Self.outOfMemory
        }
        (picture, self.anchor) = (frame, anchor)
        frame.pointee.width = Int32(size.width)
        frame.pointee.height = Int32(size.height)
        frame.pointee.format = pixelFormat.rawValue
        // Throws now if the format cannot be converted.
        if case .converted(let converters) = source { _ = try place(0, converters) }
    }

    deinit {
        release()
        for place in places { place.conversion.close() }
        var (frame, buffer): (UnsafeMutablePointer<AVFrame>?, UnsafeMutablePointer<AVBufferRef>?) = (
            picture, anchor
        )
        av_frame_free(&frame)
        av_buffer_unref(&buffer)
    }

    private static var outOfMemory: EncoderError {
        EncoderError(.openFailed(encoder: "the software encoder", detail: "out of memory"))
    }

    func frame(
        for buffer: borrowing PixelBuffer, in number: Int
    ) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        if isFilled { return picture }
        // A GPU may have read earlier pictures, without a mapping.
        buffer.keepMapped(true)
        switch source {
        case .planes(let order):
            for (index, plane) in order.enumerated() {
                // libavcodec's frames have no read-only planes, but the encoders only read them.
                let start = UnsafeMutableRawPointer(mutating: buffer.plane(plane).baseAddress)
                setPlane(
                    index, start?.assumingMemoryBound(to: UInt8.self), buffer.format.planes[plane].stride)
            }
            sample(buffer)
        case .converted(let converters):
            let place = try place(number, converters)
            try open(place)
            do throws(ConversionError) { try place.conversion.take(buffer) } catch {
                throw EncoderError(error)
            }
            show(place.surface)
            thumbnail = place.conversion.thumbnail
        }
        picture.pointee.buf.0 = anchor
        isFilled = true
        return picture
    }

    private func sample(_ buffer: borrowing PixelBuffer) {
        guard let sampler else { return }
        sampler.begin()
        sampler.take(0..<format.size.height, LumaRows(SourceBand(from: 0, of: buffer).plane(0)))
        sampler.end()
        thumbnail = sampler.thumbnail
    }

    private func show(_ surface: PictureSurface) {
        setPlane(0, surface.luma.base, surface.luma.stride)
        switch surface.chroma {
        case .interleaved(let chroma): setPlane(1, chroma.base, chroma.stride)
        case .separate(let cb, let cr):
            setPlane(1, cb.base, cb.stride)
            setPlane(2, cr.base, cr.stride)
        }
    }

    func slot(_ number: Int) -> ConversionSlot? {
        // Faster conversions do not justify the memory of another picture.
        guard case .converted(let converters) = source, format.pixelFormat.isDecoded,
            let place = try? place(number, converters), (try? open(place)) != nil
        else { return nil }
        return place.conversion
    }

    private func place(
        _ number: Int, _ converters: PictureTreatment.Converters
    ) throws(EncoderError) -> MemoryPlace {
        while places.count <= number {
            do throws(ConversionError) {
                let converter = try converters.next()
                let memory = try PictureMemory(converter.size, paddedTo: size, layout: converter.layout)
                places.append(MemoryPlace(ConversionSlot(converter), memory))
            } catch { throw EncoderError(error) }
        }
        return places[number]
    }

    /// Opens a place's slot on memory that the encoders do not read.
    private func open(_ place: MemoryPlace) throws(EncoderError) {
        guard !place.conversion.isOpen else { return }
        do throws(ConversionError) {
            try place.turn(from: isFilled ? picture.pointee.data.0 : nil)
        } catch { throw EncoderError(error) }
        place.conversion.open(on: place.surface)
    }

    func release() {
        picture.pointee.buf.0 = nil
        isFilled = false
    }

    private func setPlane(_ index: Int, _ start: UnsafeMutablePointer<UInt8>?, _ stride: Int) {
        withUnsafeMutablePointer(to: &picture.pointee.data) {
            $0.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { $0[index] = start }
        }
        withUnsafeMutablePointer(to: &picture.pointee.linesize) {
            $0.withMemoryRebound(to: Int32.self, capacity: 8) { $0[index] = Int32(stride) }
        }
    }
}

extension PixelFormat {
    /// Whether reading the format takes much longer than copying it.
    fileprivate var isDecoded: Bool {
        switch arrangement {
        case .jpeg, .vendor: true
        default: false
        }
    }
}

/// A slot and its memory: two pictures if one is converted while the encoders read the previous one.
private final class MemoryPlace {
    let conversion: ConversionSlot
    private var current: PictureMemory
    private var other: PictureMemory?

    init(_ conversion: ConversionSlot, _ memory: PictureMemory) {
        (self.conversion, current) = (conversion, memory)
    }

    /// The surface of the slot's picture.
    var surface: PictureSurface { current.surface }

    /// Switches to the other memory if the encoders read the current one.
    func turn(from first: UnsafeMutablePointer<UInt8>?) throws(ConversionError) {
        guard current.surface.luma.base == first else { return }
        let next = if let other { other } else { try current.another() }
        (current, other) = (next, current)
    }
}

extension PassthroughLayout.Arrangement {
    fileprivate var libavcodecFormat: AVPixelFormat {
        switch self {
        case .nv12: AV_PIX_FMT_NV12
        case .nv21: AV_PIX_FMT_NV21
        case .i420: AV_PIX_FMT_YUV420P
        }
    }
}
