import CYUV
import CamPictures

/// JPEG and Motion JPEG of any subsampling by 1, 2 or 4 each way, baseline or progressive, with or without
/// its own Huffman tables (libjpeg-turbo then uses the standard ones).
///
/// libjpeg-turbo decodes one row of MCUs, 8 or 16 lines, into scratch planes in the cache; from there the
/// band is treated as planar Y′CbCr. Measured side by side (`scripts/bench`, 1080p 4:2:2) this takes 1.07
/// times libjpeg-turbo's decoding alone and 0.8 times libavcodec's decoding alone; followed by swscale,
/// libavcodec takes 1.8 times as long as this. libyuv's `MJPGToNV12` takes 0.92 times as long, mostly because
/// it uses the less exact of libjpeg's inverse transforms, but it rejects 4:4:0 and 4:1:1 and accepts half a
/// picture as a whole one.
///
/// The decoder is reused for every frame. What it allocates for a frame comes from libjpeg's pools and cannot
/// be avoided.
final class MJPEGReader: PictureReader {
    private let size: PictureSize
    private let decoder: OpaquePointer
    private let resampler: ChromaResampler
    /// Room for three planes of a band.
    private let memory: UnsafeMutablePointer<UInt8>
    private let stride: Int
    private var layout = cyuv_jpeg_layout()

    init(_ format: PictureFormat) throws(ConversionError) {
        guard let decoder = cyuv_jpeg_create() else { throw .outOfMemory }
        self.decoder = decoder
        size = format.size
        resampler = ChromaResampler(size: size)
        // Whole blocks, plus what the widest subsampling and pictures that will be cropped add to a row.
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
