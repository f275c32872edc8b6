import CFFmpeg
import Pictures

/// Pictures for libx264 and libx265: the camera's own planes if they can read them, otherwise one conversion.
final class SoftwareInput: EncoderInput {
    private let picture: UnsafeMutablePointer<AVFrame>
    /// Marks the frame's memory as reference counted; otherwise libavcodec would copy every picture. It need
    /// not really be, because both libraries copy the picture when it is passed to them.
    private let anchor: UnsafeMutablePointer<AVBufferRef>
    private let source: Source

    private enum Source {
        /// The planes of the camera's buffer, in the order that libavcodec wants.
        case planes([Int])
        case converted(PixelConverter, UnsafeMutableRawBufferPointer, PictureSurface)
    }

    /// Whether the frame holds the picture.
    private var isFilled = false

    /// libavcodec's name for what `frame(for:)` gives.
    let pixelFormat: AVPixelFormat

    /// - Parameters:
    ///   - size: the coded size: the picture's size, rounded up to even.
    ///   - arrangements: what every encoder accepts; I420 is among them.
    init(
        source format: PictureFormat, size: PictureSize, color: ColorEncoding,
        arrangements: Set<PassthroughLayout.Arrangement>
    ) throws(EncoderError) {
        guard let frame = av_frame_alloc(), let anchor = av_buffer_alloc(1) else { throw Self.outOfMemory }
        picture = frame
        self.anchor = anchor
        if let layout = PassthroughLayout(format, color: color), arrangements.contains(layout.arrangement) {
            pixelFormat = layout.arrangement.libavcodecFormat
            source = .planes(layout.planes)
        } else {
            let layout: PictureSurface.Layout = arrangements.contains(.nv12) ? .nv12 : .i420
            pixelFormat = layout == .nv12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P
            source = try Self.conversion(from: format, size: size, color: color, layout: layout)
        }
        frame.pointee.width = Int32(size.width)
        frame.pointee.height = Int32(size.height)
        frame.pointee.format = pixelFormat.rawValue
    }

    deinit {
        release()
        if case .converted(_, let memory, _) = source { memory.deallocate() }
        var (frame, buffer): (UnsafeMutablePointer<AVFrame>?, UnsafeMutablePointer<AVBufferRef>?) = (
            picture, anchor
        )
        av_frame_free(&frame)
        av_buffer_unref(&buffer)
    }

    private static var outOfMemory: EncoderError {
        EncoderError(.openFailed(encoder: "the software encoder", detail: "out of memory"))
    }

    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        if isFilled { return picture }
        switch source {
        case .planes(let order):
            for (index, plane) in order.enumerated() {
                // libavcodec's frames have no read-only planes, but the encoders only read them.
                let start = UnsafeMutableRawPointer(mutating: buffer.plane(plane).baseAddress)
                setPlane(
                    index, start?.assumingMemoryBound(to: UInt8.self), buffer.format.planes[plane].stride)
            }
        case .converted(let converter, _, let surface):
            do {
                try converter.convert(buffer, into: surface)
            } catch {
                throw EncoderError(error)
            }
            setPlane(0, surface.luma.base, surface.luma.stride)
            switch surface.chroma {
            case .interleaved(let chroma): setPlane(1, chroma.base, chroma.stride)
            case .separate(let cb, let cr):
                setPlane(1, cb.base, cb.stride)
                setPlane(2, cr.base, cr.stride)
            }
        }
        picture.pointee.buf.0 = anchor
        isFilled = true
        return picture
    }

    func release() {
        picture.pointee.buf.0 = nil
        isFilled = false
    }

    private static func conversion(
        from format: PictureFormat, size: PictureSize, color: ColorEncoding, layout: PictureSurface.Layout
    ) throws(EncoderError) -> Source {
        let converter: PixelConverter
        do {
            converter = try PixelConverter(source: format, layout: layout, color: color)
        } catch {
            throw EncoderError(error)
        }
        // Rows, including chroma's, are a multiple of 64 bytes, which suits the encoders' vector code.
        let stride = (size.width + 127) & ~127
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: stride * (size.height + size.height / 2), alignment: 64)
        let bytes = memory.assumingMemoryBound(to: UInt8.self)
        guard let luma = bytes.baseAddress else { throw outOfMemory }
        let chroma = luma + stride * size.height
        let surface = PictureSurface(
            size: format.size, paddedSize: size, luma: PictureSurface.Plane(luma, stride: stride),
            chroma: layout == .nv12
                ? .interleaved(PictureSurface.Plane(chroma, stride: stride))
                : .separate(
                    cb: PictureSurface.Plane(chroma, stride: stride / 2),
                    cr: PictureSurface.Plane(chroma + stride / 2 * (size.height / 2), stride: stride / 2)))
        return .converted(converter, memory, surface)
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

extension PassthroughLayout.Arrangement {
    fileprivate var libavcodecFormat: AVPixelFormat {
        switch self {
        case .nv12: AV_PIX_FMT_NV12
        case .nv21: AV_PIX_FMT_NV21
        case .i420: AV_PIX_FMT_YUV420P
        }
    }
}
