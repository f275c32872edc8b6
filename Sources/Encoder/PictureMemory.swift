import Glibc
import CamPictures

/// Memory for one converted picture.
final class PictureMemory {
    /// The picture in it.
    let surface: PictureSurface
    private let memory: UnsafeMutableRawPointer

    /// - Parameter paddedSize: columns and rows that there is room for.
    init(
        _ size: PictureSize, paddedTo paddedSize: PictureSize, layout: PictureSurface.Layout
    ) throws(ConversionError) {
        // Rows, including chroma's, are a multiple of 64 bytes, which suits the encoders' vector code.
        let stride = (paddedSize.width + 127) & ~127
        let (lumaLength, chromaLength) = (stride * paddedSize.height, stride * (paddedSize.height / 2))
        guard let memory = AlignedMemory.allocate(byteCount: lumaLength + chromaLength)?.baseAddress else {
            throw .outOfMemory
        }
        self.memory = memory
        let luma = memory.assumingMemoryBound(to: UInt8.self)
        let chroma = luma + lumaLength
        surface = PictureSurface(
            size: size, paddedSize: paddedSize, luma: PictureSurface.Plane(luma, stride: stride),
            chroma: layout == .nv12
                ? .interleaved(PictureSurface.Plane(chroma, stride: stride))
                : .separate(
                    cb: PictureSurface.Plane(chroma, stride: stride / 2),
                    cr: PictureSurface.Plane(chroma + chromaLength / 2, stride: stride / 2)))
    }

    /// Memory for a planar picture of any size.
    convenience init(planar size: PictureSize) throws(ConversionError) {
        // An odd side has half a chroma sample more.
        let even = PictureSize((size.width + 1) & ~1, (size.height + 1) & ~1)
        guard let even else { throw .outOfMemory }
        try self.init(size, paddedTo: even, layout: .i420)
    }

    deinit { free(memory) }

    /// More memory of the same kind.
    func another() throws(ConversionError) -> PictureMemory {
        try PictureMemory(surface.size, paddedTo: surface.paddedSize, layout: surface.layout)
    }
}
