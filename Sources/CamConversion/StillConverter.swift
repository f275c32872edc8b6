import CYUV
import Glibc
import CamPictures

/// Converts a stream's pictures, one at a time, to the color encoding of JPEG files: 4:2:0, full range,
/// BT.601.
///
/// One thread at a time may use a converter.
public final class StillConverter {
    /// The format of the pictures that `convert` takes.
    public let format: PictureFormat
    private let converter: PixelConverter
    private let memory: UnsafeMutableRawBufferPointer
    private let surface: PictureSurface
    private let planes: [PictureSurface.Plane]

    /// The width and height of JPEG's coding units in pixels.
    private static let unit = 16
    /// The step between sampled pixels and rows, close enough for a mean.
    private static let sampling = 4

    /// - Parameter privacy: the parts to hide; nil for none.
    /// - Throws: `.unsupported` if nothing reads the format, and for a camera's own H.264; `.request` if the mask
    ///   does not fit the pictures.
    public init(_ format: PictureFormat, hiding privacy: PrivacyMask? = nil) throws(ConversionError) {
        self.format = format
        var treatment = PictureTreatment()
        treatment.privacy = privacy
        let converters: PictureTreatment.Converters
        do throws(PictureRequestError) {
            converters = try treatment.converters(
                of: format, layout: .i420, color: ColorEncoding(range: .full, matrix: .bt601))
        } catch { throw .request(error) }
        converter = try converters.next()
        let (width, height) = (Self.padded(format.size.width), Self.padded(format.size.height))
        guard let memory = AlignedMemory.allocate(byteCount: width * height * 3 / 2),
            let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let padded = PictureSize(width, height)
        else { throw .outOfMemory }
        self.memory = memory
        let luma = PictureSurface.Plane(base, stride: width)
        let cb = PictureSurface.Plane(base + width * height, stride: width / 2)
        let cr = PictureSurface.Plane(base + width * height * 5 / 4, stride: width / 2)
        planes = [luma, cb, cr]
        surface = PictureSurface(
            size: format.size, paddedSize: padded, luma: luma, chroma: .separate(cb: cb, cr: cr))
    }

    deinit { free(memory.baseAddress) }

    /// Converts a picture, which replaces the previous one.
    /// - Throws: `.corrupt` or `.mismatched` if the picture is bad; the next may be good.
    public func convert(_ buffer: borrowing PixelBuffer) throws(ConversionError) {
        try converter.convert(buffer, into: surface)
    }

    /// The mean brightness of the last picture, 0 to 255.
    public var meanLuma: Double {
        var (sum, count) = (0, 0)
        for row in stride(from: 0, to: format.size.height, by: Self.sampling) {
            let samples = surface.luma.row(row)
            for column in stride(from: 0, to: format.size.width, by: Self.sampling) {
                sum += Int(samples[column])
                count += 1
            }
        }
        return Double(sum) / Double(max(1, count))
    }

    /// Returns the last picture as a baseline JPEG file (JFIF).
    /// - Parameter quality: 1 to 100.
    public func jpeg(quality: Int) throws(ConversionError) -> [UInt8] {
        var picture = cyuv_jpeg_picture()
        picture.planes = (.init(planes[0].base), .init(planes[1].base), .init(planes[2].base))
        picture.strides = (planes[0].stride, planes[1].stride, planes[2].stride)
        (picture.width, picture.height) = (Int32(format.size.width), Int32(format.size.height))
        picture.quality = Int32(quality)
        // Noise at the highest quality takes more bytes than its samples.
        let capacity = 2 * memory.count + 4096
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
            count = cyuv_jpeg_encode_420(&picture, room.baseAddress, capacity)
        }
        guard !bytes.isEmpty else { throw .outOfMemory }
        return bytes
    }

    /// Calls `body` with the last picture as bytes R, G, B, in rows without padding. Returns nil if memory
    /// ran out.
    public func withRGB<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let (width, height) = (format.size.width, format.size.height)
        guard let rgb = AlignedMemory.allocate(byteCount: 3 * width * height) else { return nil }
        defer { free(rgb.baseAddress) }
        // libyuv's RAW is R, G, B in memory; J420 has JPEG's full range.
        J420ToRAW(
            planes[0].base, Int32(planes[0].stride), planes[1].base, Int32(planes[1].stride), planes[2].base,
            Int32(planes[2].stride), rgb.baseAddress, Int32(3 * width), Int32(width), Int32(height))
        return try body(rgb)
    }

    private static func padded(_ length: Int) -> Int { (length + unit - 1) / unit * unit }
}
