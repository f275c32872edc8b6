import CYUV
import Capture
import Glibc

/// Everything else that libv4lconvert knows: Bayer mosaics, and what old webcams' chips compress to.
///
/// This takes passes of its own over memory: the payload is copied, libv4lconvert makes a whole YU12
/// picture of the copy, and that is read in bands. The copy has zeros after it, because most of
/// libv4lconvert's decoders trust the frame to be complete, and some write into it.
final class VendorReader: PictureReader {
    private let format: PictureFormat
    private let converter: OpaquePointer
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let picture: UnsafeMutablePointer<UInt8>
    private let stride: Int

    init(_ format: PictureFormat) throws(ConversionError) {
        let size = format.size
        guard size.width % 2 == 0, size.height % 2 == 0 else {
            throw .unsupported(format.pixelFormat, "libv4lconvert needs even sizes, not \(size)")
        }
        guard let converter = cyuv_vendor_create() else { throw .outOfMemory }
        self.format = format
        self.converter = converter
        stride = format.bytesPerLine ?? 0
        guard stride <= 8 * size.width else {
            throw .unsupported(format.pixelFormat, "rows of \(stride) bytes for \(size.width) pixels")
        }
        // No format of libv4lconvert takes more than four bytes a pixel, or two rows of bytes a row, and a
        // header.
        input = .allocate(capacity: max(4 * size.area, 2 * stride * size.height) + 65536)
        input.initialize(repeating: 0)
        picture = .allocate(capacity: 3 * size.area / 2)
        picture.initialize(repeating: 0, count: 3 * size.area / 2)
        if convert(length: 0) == -EINVAL {
            throw .unsupported(format.pixelFormat, "neither camrec nor libv4lconvert can read it")
        }
    }

    deinit {
        cyuv_vendor_destroy(converter)
        input.deallocate()
        picture.deallocate()
    }

    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError) {
        let payload = buffer.payload
        guard payload.count <= input.count else { throw .corrupt("\(payload.count) bytes is too much") }
        UnsafeMutableRawBufferPointer(input).copyMemory(from: payload)
        input[payload.count...].update(repeating: 0)
        guard convert(length: payload.count) == 0 else {
            var message = String(cString: cyuv_vendor_message(converter))
            while message.last?.isNewline == true { message.removeLast() }
            throw .corrupt(message)
        }
    }

    func read(_ rows: Range<Int>, of buffer: borrowing PixelBuffer, into band: PictureSurface.Band) {
        let (width, height) = (format.size.width, format.size.height)
        let base = UnsafePointer(picture)
        let cb = SourcePlane(base + width * height, stride: width / 2)
        let cr = SourcePlane(cb.row(height / 2), stride: width / 2)
        band.copyLuma(from: SourcePlane(base, stride: width).from(row: rows.lowerBound))
        band.copyChroma(cb: cb.from(row: rows.lowerBound / 2), cr: cr.from(row: rows.lowerBound / 2))
    }

    /// Makes `picture` of the first `length` bytes of `input`; 0 or −errno.
    private func convert(length: Int) -> Int32 {
        cyuv_vendor_convert(
            converter, format.pixelFormat.rawValue, Int32(format.size.width), Int32(format.size.height),
            Int32(stride), input.baseAddress, length, picture)
    }
}
