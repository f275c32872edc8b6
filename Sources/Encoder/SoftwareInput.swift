import CFFmpeg
import Capture

/// Pictures for libx264: the camera's own planes where it can read them, else one conversion to NV12.
final class SoftwareInput: EncoderInput {
    private let picture: UnsafeMutablePointer<AVFrame>
    /// Says that the frame's memory is reference counted, without which libavcodec copies every picture.
    /// It need not be: libx264 copies the picture while it is handed over.
    private let anchor: UnsafeMutablePointer<AVBufferRef>
    private let source: Source

    private enum Source {
        /// The planes of the camera's buffer, in the order that libavcodec wants.
        case planes([Int])
        case converted(PixelConverter, UnsafeMutableRawBufferPointer, PictureSurface)
    }

    /// libavcodec's name for what `frame(for:)` gives.
    let pixelFormat: AVPixelFormat

    /// - Parameter size: the coded size: the picture's, rounded up to even.
    init(source format: PictureFormat, size: PictureSize, color: ColorEncoding) throws(EncoderError) {
        guard let frame = av_frame_alloc(), let anchor = av_buffer_alloc(1) else {
            throw EncoderError(.openFailed(encoder: "libx264", detail: "out of memory"))
        }
        picture = frame
        self.anchor = anchor
        if let layout = PassthroughLayout(format, color: color) {
            pixelFormat = layout.arrangement.libavcodecFormat
            source = .planes(layout.planes)
        } else {
            pixelFormat = AV_PIX_FMT_NV12
            source = try Self.conversion(from: format, size: size, color: color)
        }
        frame.pointee.width = Int32(size.width)
        frame.pointee.height = Int32(size.height)
        frame.pointee.format = pixelFormat.rawValue
    }

    deinit {
        if case .converted(_, let memory, _) = source { memory.deallocate() }
        var (frame, buffer): (UnsafeMutablePointer<AVFrame>?, UnsafeMutablePointer<AVBufferRef>?) = (
            picture, anchor
        )
        av_frame_free(&frame)
        av_buffer_unref(&buffer)
    }

    func frame(for buffer: borrowing PixelBuffer) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        switch source {
        case .planes(let order):
            for (index, plane) in order.enumerated() {
                // libavcodec's frames have no constant planes; libx264 only reads them.
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
            if case .interleaved(let chroma) = surface.chroma { setPlane(1, chroma.base, chroma.stride) }
        }
        picture.pointee.buf.0 = anchor
        return picture
    }

    func release() { picture.pointee.buf.0 = nil }

    private static func conversion(
        from format: PictureFormat, size: PictureSize, color: ColorEncoding
    ) throws(EncoderError) -> Source {
        let converter: PixelConverter
        do {
            converter = try PixelConverter(source: format, layout: .nv12, color: color)
        } catch {
            throw EncoderError(error)
        }
        // Rows of a multiple of 64 bytes, as x264's vector code likes them.
        let stride = (size.width + 63) & ~63
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: stride * (size.height + size.height / 2), alignment: 64)
        let bytes = memory.assumingMemoryBound(to: UInt8.self)
        guard let luma = bytes.baseAddress else {
            throw EncoderError(.openFailed(encoder: "libx264", detail: "out of memory"))
        }
        let surface = PictureSurface(
            size: format.size, paddedSize: size, luma: PictureSurface.Plane(luma, stride: stride),
            chroma: .interleaved(PictureSurface.Plane(luma + stride * size.height, stride: stride)))
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
