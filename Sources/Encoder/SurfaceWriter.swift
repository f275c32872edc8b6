import CFFmpeg
import CVAAPI
import CamAcceleration
import CamPictures
import Glibc
import CamConversion

/// How a picture gets into a GPU surface.
public enum UploadMethod: String, Sendable, Hashable, CaseIterable {
    /// Map if the driver maps correctly, otherwise put.
    case auto
    /// The surface is mapped and written in place (vaDeriveImage).
    case map
    /// A driver's image is written, then copied to the surface (vaPutImage).
    case put
}

/// Writes pictures into NV12 surfaces of one size. Used by one thread; another thread may write the mapped
/// memory.
final class SurfaceWriter {
    private let connection: VADisplayConnection
    private let size: PictureSize
    private let wanted: UploadMethod
    /// Unmapped images for uploads. They are created when a surface cannot be mapped.
    private var freeImages: [VAImage] = []
    /// The upload method in use: map or put.
    private(set) var method = UploadMethod.map

    /// The memory of a picture's planes.
    struct Planes {
        let luma: PictureSurface.Plane
        let chroma: PictureSurface.Plane

        init(luma: PictureSurface.Plane, chroma: PictureSurface.Plane) {
            (self.luma, self.chroma) = (luma, chroma)
        }

        init(_ image: VAImage, at memory: UnsafeMutableRawPointer) {
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            luma = PictureSurface.Plane(bytes + Int(image.offsets.0), stride: Int(image.pitches.0))
            chroma = PictureSurface.Plane(bytes + Int(image.offsets.1), stride: Int(image.pitches.1))
        }
    }

    /// Driver memory for one picture, on the way into a surface.
    struct Mapping {
        let planes: Planes
        fileprivate let surface: VASurfaceID
        fileprivate let image: VAImage
        /// Whether the image is the surface's own memory.
        fileprivate let isDerived: Bool
    }

    /// - Parameter size: the size of the surfaces.
    init(connection: VADisplayConnection, size: PictureSize, method: UploadMethod) {
        self.connection = connection
        self.size = size
        wanted = method
        if method == .put { self.method = .put }
    }

    deinit {
        let (display, images) = (connection.display, freeImages)
        _ = try? connection.call { for image in images { vaDestroyImage(display, image.image_id) } }
    }

    /// Returns memory for a picture in an otherwise unused surface. Call `finish` or `discard` afterwards.
    func map(_ surface: VASurfaceID) throws(EncoderError) -> Mapping {
        if method == .map, let image = derivedImage(of: surface) {
            if let memory = try? memory(of: image).get() {
                return Mapping(
                    planes: Planes(image, at: memory), surface: surface, image: image, isDerived: true)
            }
            vaDestroyImage(connection.display, image.image_id)
        }
        guard wanted != .map else {
            throw failed("mapping a surface", "not supported by the driver; leave out --upload map")
        }
        method = .put
        let image = if let free = freeImages.popLast() { free } else { try makeImage() }
        switch memory(of: image) {
        case .success(let memory):
            return Mapping(
                planes: Planes(image, at: memory), surface: surface, image: image, isDerived: false)
        case .failure(let failure):
            freeImages.append(image)
            throw failed("mapping an image", failure.status)
        }
    }

    /// Moves the written picture into the surface, and unmaps the memory.
    func finish(_ mapping: Mapping) throws(EncoderError) {
        discard(mapping)
        if mapping.isDerived { return }
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        let status = vaPutImage(
            connection.display, mapping.surface, mapping.image.image_id, 0, 0, width, height, 0, 0, width,
            height)
        guard status == VA_STATUS_SUCCESS else { throw failed("upload", status) }
    }

    /// Unmaps the memory without an upload.
    func discard(_ mapping: Mapping) {
        vaUnmapBuffer(connection.display, mapping.image.buf)
        if mapping.isDerived {
            vaDestroyImage(connection.display, mapping.image.image_id)
        } else {
            freeImages.append(mapping.image)
        }
    }

    /// Makes the rows from `row` on gray. The content of the other rows is undefined afterwards.
    func clear(_ surface: VASurfaceID, from row: Int) throws(EncoderError) {
        let mapping = try map(surface)
        for (plane, rows) in [
            (mapping.planes.luma, row..<size.height), (mapping.planes.chroma, row / 2..<size.height / 2),
        ] {
            for row in rows { (plane.base + row * plane.stride).update(repeating: 128, count: size.width) }
        }
        try finish(mapping)
    }

    /// Uses vaPutImage from now on.
    func stopMapping() { method = .put }

    /// Reads a surface independently of mapping (vaGetImage). Returns false if the driver does not support
    /// that.
    func read(
        from surface: VASurfaceID, _ look: (Planes) throws(EncoderError) -> Void
    ) throws(EncoderError) -> Bool {
        guard vaSyncSurface(connection.display, surface) == VA_STATUS_SUCCESS, let image = try? makeImage()
        else { return false }
        defer { vaDestroyImage(connection.display, image.image_id) }
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        guard
            vaGetImage(connection.display, surface, 0, 0, width, height, image.image_id) == VA_STATUS_SUCCESS,
            let memory = try? memory(of: image).get()
        else { return false }
        defer { vaUnmapBuffer(connection.display, image.buf) }
        try look(Planes(image, at: memory))
        return true
    }

    /// The surface's own memory as an image; nil if the driver cannot provide it as NV12.
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

    private struct MappingFailure: Error { let status: VAStatus }

    /// Maps an image.
    private func memory(of image: VAImage) -> Result<UnsafeMutableRawPointer, MappingFailure> {
        var mapped: UnsafeMutableRawPointer?
        let status = vaMapBuffer(connection.display, image.buf, &mapped)
        guard status == VA_STATUS_SUCCESS, let mapped else {
            return .failure(
                MappingFailure(
                    status: status == VA_STATUS_SUCCESS ? VA_STATUS_ERROR_OPERATION_FAILED : status))
        }
        return .success(mapped)
    }

    private func failed(_ what: String, _ status: VAStatus) -> EncoderError {
        failed(what, String(cString: vaErrorStr(status)))
    }

    private func failed(_ what: String, _ detail: String) -> EncoderError {
        EncoderError(.encodeFailed(encoder: "VAAPI on \(connection.node)", detail: "\(what): \(detail)"))
    }
}

/// Checks that a driver's surfaces keep the pictures written into them. Layouts differ between drivers, and a
/// wrong layout shears or scrambles every picture without an error.
struct UploadCheck {
    private let writer: SurfaceWriter
    private let size: PictureSize

    /// Writes noise into a surface and reads it back. If mapped noise comes back changed, switches to the
    /// other upload method.
    ///
    /// Calls the driver: use it inside a connection's `call`.
    /// - Parameter isChangeable: whether the upload method may change.
    /// - Returns: a note, if there is something to report.
    static func settle(
        _ writer: SurfaceWriter, on surface: VASurfaceID, size: PictureSize, isChangeable: Bool, node: String
    ) throws(EncoderError) -> EncoderNote? {
        let check = UploadCheck(writer: writer, size: size)
        if try check.isRight(surface, seed: 1) != false { return nil }
        let way = writer.method
        guard way == .map, isChangeable else {
            return EncoderNote(
                "\(node): a picture read back differs from the one written; look at the "
                    + "recording, and use --encoder software if it is damaged", contradictsRequest: true)
        }
        writer.stopMapping()
        let isBetter = try check.isRight(surface, seed: 2) == true
        return EncoderNote(
            "\(node): a mapped surface returns another picture than was written; uploading pictures instead"
                + (isBetter
                    ? "" : ", which is no better: use --encoder software if the recording is damaged"),
            contradictsRequest: true)
    }

    /// Whether noise comes back unchanged; nil if the surface cannot be read back.
    private func isRight(_ surface: VASurfaceID, seed: UInt64) throws(EncoderError) -> Bool? {
        var isSame = true
        let mapping = try writer.map(surface)
        eachRow(of: mapping.planes, seed: seed) { memory, row in memory.update(from: row, count: size.width) }
        try writer.finish(mapping)
        let isRead = try writer.read(from: surface) { planes in
            eachRow(of: planes, seed: seed) { memory, row in
                if memcmp(memory, row, size.width) != 0 { isSame = false }
            }
        }
        return isRead ? isSame : nil
    }

    /// Calls a function with each row of the planes and the noise for that row.
    private func eachRow(
        of planes: SurfaceWriter.Planes, seed: UInt64,
        _ body: (UnsafeMutablePointer<UInt8>, UnsafePointer<UInt8>) -> Void
    ) {
        let (width, height) = (size.width, size.height)
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: (width + 7) / 8) { row in
            let bytes = UnsafeRawBufferPointer(row).assumingMemoryBound(to: UInt8.self)
            guard let start = bytes.baseAddress else { return }
            var noise = Noise(state: seed)
            for (plane, rows) in [(planes.luma, height), (planes.chroma, height / 2)] {
                for number in 0..<rows {
                    for index in row.indices { row.initializeElement(at: index, to: noise.next()) }
                    body(plane.base + number * plane.stride, start)
                }
            }
        }
    }

    /// Numbers that do not repeat (xorshift64).
    private struct Noise {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
