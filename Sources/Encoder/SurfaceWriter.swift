import Acceleration
import CVAAPI
import Pictures

/// How a picture gets into a GPU surface.
public enum UploadMethod: String, Sendable, Hashable, CaseIterable {
    /// Mapped if the driver does that correctly, otherwise put.
    case auto
    /// The surface is mapped and written in place (vaDeriveImage).
    case map
    /// An image of the driver's is written, then copied to the surface (vaPutImage).
    case put
}

/// Writes pictures into NV12 surfaces of one size. Used by one thread.
final class SurfaceWriter {
    private let connection: VADisplayConnection
    private let size: PictureSize
    private let wanted: UploadMethod
    /// The image for uploads, created when a surface cannot be mapped.
    private var uploadImage: VAImage?

    /// Where to write a picture.
    struct Planes {
        let luma: PictureSurface.Plane
        let chroma: PictureSurface.Plane

        init(_ image: VAImage, at memory: UnsafeMutableRawPointer) {
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            luma = PictureSurface.Plane(bytes + Int(image.offsets.0), stride: Int(image.pitches.0))
            chroma = PictureSurface.Plane(bytes + Int(image.offsets.1), stride: Int(image.pitches.1))
        }
    }

    /// - Parameter size: of the surfaces.
    init(connection: VADisplayConnection, size: PictureSize, method: UploadMethod) {
        self.connection = connection
        self.size = size
        wanted = method
    }

    deinit {
        guard let image = uploadImage?.image_id else { return }
        let display = connection.display
        _ = try? connection.call { vaDestroyImage(display, image) }
    }

    /// The method that the last surface was written with.
    var method: UploadMethod { uploadImage == nil ? .map : .put }

    /// Writes a picture into a surface that nothing else uses.
    func write(
        to surface: VASurfaceID, _ fill: (Planes) throws(EncoderError) -> Void
    ) throws(EncoderError) {
        if uploadImage == nil, wanted != .put, let image = derivedImage(of: surface) {
            defer { vaDestroyImage(connection.display, image.image_id) }
            if try access(image, fill) == VA_STATUS_SUCCESS { return }
        }
        if uploadImage == nil {
            guard wanted != .map else {
                throw failed("mapping a surface", "not supported by the driver; leave out --upload map")
            }
            uploadImage = try makeImage()
        }
        guard let uploadImage else { return }
        let access = try access(uploadImage, fill)
        guard access == VA_STATUS_SUCCESS else { throw failed("mapping an image", access) }
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        let status = vaPutImage(
            connection.display, surface, uploadImage.image_id, 0, 0, width, height, 0, 0, width, height)
        guard status == VA_STATUS_SUCCESS else { throw failed("upload", status) }
    }

    /// Uses vaPutImage from now on.
    func stopMapping() throws(EncoderError) {
        if uploadImage == nil { uploadImage = try makeImage() }
    }

    /// Reads a surface independently of mapping (vaGetImage); false if the driver does not allow that.
    func read(
        from surface: VASurfaceID, _ look: (Planes) throws(EncoderError) -> Void
    ) throws(EncoderError) -> Bool {
        guard vaSyncSurface(connection.display, surface) == VA_STATUS_SUCCESS, let image = try? makeImage()
        else { return false }
        defer { vaDestroyImage(connection.display, image.image_id) }
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        guard
            vaGetImage(connection.display, surface, 0, 0, width, height, image.image_id) == VA_STATUS_SUCCESS
        else { return false }
        return try access(image, look) == VA_STATUS_SUCCESS
    }

    /// The surface itself as an image; nil if the driver cannot give it as NV12.
    private func derivedImage(of surface: VASurfaceID) -> VAImage? {
        var image = VAImage()
        guard vaDeriveImage(connection.display, surface, &image) == VA_STATUS_SUCCESS else { return nil }
        if holdsPicture(image) { return image }
        vaDestroyImage(connection.display, image.image_id)
        return nil
    }

    private func makeImage() throws(EncoderError) -> VAImage {
        var format = VAImageFormat()
        format.fourcc = UInt32(CVAAPI_FOURCC_NV12)
        format.byte_order = UInt32(VA_LSB_FIRST)
        format.bits_per_pixel = 12
        var image = VAImage()
        let status = vaCreateImage(
            connection.display, &format, Int32(size.width), Int32(size.height), &image)
        guard status == VA_STATUS_SUCCESS else { throw failed("image", status) }
        guard holdsPicture(image) else {
            vaDestroyImage(connection.display, image.image_id)
            throw failed("image", "its layout does not fit the picture")
        }
        return image
    }

    /// Checks the pitches and offsets that the driver claims: they must lie within its own data size.
    private func holdsPicture(_ image: VAImage) -> Bool {
        guard image.format.fourcc == UInt32(CVAAPI_FOURCC_NV12), image.num_planes == 2 else { return false }
        let (luma, chroma) = (Int(image.pitches.0), Int(image.pitches.1))
        return luma >= size.width && chroma >= size.width
            && Int(image.offsets.0) + luma * size.height <= Int(image.data_size)
            && Int(image.offsets.1) + chroma * size.height / 2 <= Int(image.data_size)
            && Int(image.offsets.0) + luma * size.height <= Int(image.offsets.1)
    }

    /// - Returns: why the image could not be mapped, or success.
    private func access(
        _ image: VAImage, _ body: (Planes) throws(EncoderError) -> Void
    ) throws(EncoderError) -> VAStatus {
        var mapped: UnsafeMutableRawPointer?
        let status = vaMapBuffer(connection.display, image.buf, &mapped)
        guard status == VA_STATUS_SUCCESS else { return status }
        guard let mapped else { return VA_STATUS_ERROR_OPERATION_FAILED }
        defer { vaUnmapBuffer(connection.display, image.buf) }
        try body(Planes(image, at: mapped))
        return VA_STATUS_SUCCESS
    }

    private func failed(_ what: String, _ status: VAStatus) -> EncoderError {
        failed(what, String(cString: vaErrorStr(status)))
    }

    private func failed(_ what: String, _ detail: String) -> EncoderError {
        EncoderError(.encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "\(what): \(detail)"))
    }
}
