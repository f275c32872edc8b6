import CYUV
import CamPictures
import Glibc

/// JPEG and Motion JPEG of any subsampling by 1, 2 or 4 each way, baseline or progressive, with or without
/// its own Huffman tables (libjpeg-turbo then uses the standard ones).
///
/// libjpeg-turbo decodes one row of MCUs, 8 or 16 lines, into scratch planes in the cache; the band is then
/// read as planar Y′CbCr. Measured side by side (`scripts/bench`, 1080p 4:2:2) this takes 1.07 times
/// libjpeg-turbo's decoding alone and 0.8 times libavcodec's decoding alone; followed by swscale, libavcodec
/// takes 1.8 times as long as this. libyuv's `MJPGToNV12` takes 0.92 times as long, mostly because it uses
/// the less exact of libjpeg's inverse transforms, but it rejects 4:4:0 and 4:1:1 and accepts half a picture
/// as a whole one.
///
/// All frames share one decoder. Its allocations per frame come from libjpeg's pools and cannot be avoided.
final class MJPEGReader: PictureReader {
    private let size: PictureSize
    private let decoder: OpaquePointer
    private let resampler: ChromaResampler
    /// Scratch memory for three planes of a band.
    private let memory: UnsafeMutablePointer<UInt8>
    private let stride: Int
    private var layout = cyuv_jpeg_layout()

    init(_ format: PictureFormat) throws(ConversionError) {
        guard let decoder = cyuv_jpeg_create() else { throw .outOfMemory }
        self.decoder = decoder
        size = format.size
        resampler = ChromaResampler(size: size)
        // Whole blocks, plus the columns that the widest subsampling and cropped pictures add to a row.
        stride = (size.width + 31) / 32 * 32 + 64
        memory = .allocateAligned(count: 3 * stride * Int(CYUV_JPEG_MAXIMUM_BAND_ROWS))
    }

    deinit {
        cyuv_jpeg_destroy(decoder)
        memory.deallocate()
    }

    var bandRows: Int { Int(layout.band_rows) }

    func begin(_ buffer: borrowing PixelBuffer) throws(ConversionError) {
        let payload = buffer.payload
        try check(
            cyuv_jpeg_begin(
                decoder, payload.baseAddress?.assumingMemoryBound(to: UInt8.self), payload.count,
                Int32(size.width), Int32(size.height), &layout))
    }

    func read(
        _ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band
    ) throws(ConversionError) {
        try check(cyuv_jpeg_read_band(decoder, memory, stride))
        band.copyLuma(from: SourcePlane(plane(0), stride: stride))
        guard layout.plane_count == 3 else {
            band.fillChroma(with: 128)
            return
        }
        let subsampling = Subsampling(
            Int(layout.horizontal_subsampling), Int(layout.vertical_subsampling))
        resampler.resample(
            cb: SourcePlane(plane(1), stride: stride), cr: SourcePlane(plane(2), stride: stride),
            rows: (rows.count + subsampling.vertical - 1) / subsampling.vertical,
            subsampling: subsampling, into: band)
    }

    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows {
        LumaRows(SourcePlane(plane(0), stride: stride))
    }

    private func plane(_ number: Int) -> UnsafeMutablePointer<UInt8> {
        memory + number * stride * Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)
    }

    private func check(_ status: cyuv_jpeg_status) throws(ConversionError) {
        if status == CYUV_JPEG_OK { return }
        let message = String(cString: cyuv_jpeg_message(decoder))
        switch status {
        case CYUV_JPEG_OTHER_SIZE: throw .mismatched(message)
        // A damaged header may cause this for a single frame.
        case CYUV_JPEG_UNSUPPORTED: throw .mismatched(message)
        default: throw .corrupt(message)
        }
    }
}

/// Reads the remaining formats that libv4lconvert supports: Bayer mosaics, and the compressed formats of old
/// webcam chips.
///
/// This takes extra passes over memory: the payload is copied without row padding, libv4lconvert converts the
/// copy to a whole YU12 picture, and bands are read from that picture. The copy is needed because some of
/// libv4lconvert's decoders write into their input, and most assume a complete frame, so zeros follow the
/// payload.
final class VendorReader: PictureReader {
    private let format: PictureFormat
    private let converter: OpaquePointer
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let picture: UnsafeMutablePointer<UInt8>
    /// The layout of padded rows, which are copied one by one; nil if rows have no padding.
    private let paddedRows: PaddedRows?

    private struct PaddedRows {
        let bytes: Int
        let count: Int
        let stride: Int
    }

    init(_ format: PictureFormat) throws(ConversionError) {
        let size = format.size
        guard size.width % 2 == 0, size.height % 2 == 0, size.width >= 16, size.height >= 16 else {
            throw .unsupported(format.pixelFormat, "libv4lconvert needs even sizes from 16x16, not \(size)")
        }
        guard let converter = cyuv_vendor_create() else { throw .outOfMemory }
        self.format = format
        self.converter = converter
        paddedRows = Self.paddedRows(of: format)
        // No format of libv4lconvert takes more than four bytes a pixel and a header. The zeros behind a full
        // payload are read, too: libv4lconvert's RGB565 conversion reads one row beyond the picture.
        input = .allocate(capacity: 4 * size.area + 65536)
        input.initialize(repeating: 0)
        // Decoders of vendor formats write whole blocks, regardless of the picture's size.
        let blocks = (size.width + 31) / 32 * ((size.height + 31) / 32)
        picture = .allocate(capacity: blocks * 3 * 32 * 32 / 2)
        picture.initialize(repeating: 0, count: blocks * 3 * 32 * 32 / 2)
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
        let length = try copy(buffer.payload)
        input[length...].update(repeating: 0)
        guard convert(length: length) == 0 else {
            var message = String(cString: cyuv_vendor_message(converter))
            while message.last?.isNewline == true { message.removeLast() }
            throw .corrupt(message)
        }
    }

    func read(_ rows: Range<Int>, from source: borrowing SourceBand, into band: PictureSurface.Band) {
        let (width, height) = (format.size.width, format.size.height)
        let base = UnsafePointer(picture)
        let cb = SourcePlane(base + width * height, stride: width / 2)
        let cr = SourcePlane(cb.row(height / 2), stride: width / 2)
        band.copyLuma(from: SourcePlane(base, stride: width).from(row: rows.lowerBound))
        band.copyChroma(cb: cb.from(row: rows.lowerBound / 2), cr: cr.from(row: rows.lowerBound / 2))
    }

    func luma(_ rows: Range<Int>, in source: borrowing SourceBand) -> LumaRows {
        LumaRows(SourcePlane(picture, stride: format.size.width).from(row: rows.lowerBound))
    }

    private static func paddedRows(of format: PictureFormat) -> PaddedRows? {
        let rows = cyuv_vendor_find_rows(
            format.pixelFormat.rawValue, Int32(format.size.width), Int32(format.size.height))
        guard let stride = format.bytesPerLine, rows.bytes > 0, stride > rows.bytes else { return nil }
        return PaddedRows(bytes: Int(rows.bytes), count: Int(rows.count), stride: stride)
    }

    /// Copies the payload, possibly incomplete, to `input`.
    /// - Returns: the number of bytes copied.
    private func copy(_ payload: UnsafeRawBufferPointer) throws(ConversionError) -> Int {
        let target = UnsafeMutableRawBufferPointer(input)
        guard let rows = paddedRows else {
            guard payload.count <= target.count else { throw .corrupt("\(payload.count) bytes are too many") }
            target.copyMemory(from: payload)
            return payload.count
        }
        var length = 0
        for row in 0..<rows.count where row * rows.stride < payload.count {
            let start = row * rows.stride
            let bytes = payload[start..<min(start + rows.bytes, payload.count)]
            UnsafeMutableRawBufferPointer(rebasing: target[length...]).copyBytes(from: bytes)
            length += bytes.count
        }
        return length
    }

    /// Converts the first `length` bytes of `input` to `picture`; returns 0 or −errno.
    private func convert(length: Int) -> Int32 {
        cyuv_vendor_convert(
            converter, format.pixelFormat.rawValue, Int32(format.size.width), Int32(format.size.height),
            input.baseAddress, length, picture)
    }
}
