import CamAcceleration
import CFFmpeg
import CVAAPI
import CamPictures

/// Decodes baseline JPEG on a GPU, into surfaces of an encoder (VA-API: `va_dec_jpeg.h`).
///
/// Use it in one thread at a time.
final class GPUJPEGDecoder {
    private let connection: VADisplayConnection
    private let config: VAConfigID
    private let context: VAContextID
    /// Whether the GPU decodes 4:2:2 to NV12, too. Intel's engine halves the chroma; Mesa turns the surface
    /// into YUYV (22.3) or reports an error (25).
    let takes422: Bool
    // The parameter buffers, reused for each picture.
    private var picture = VAPictureParameterBufferJPEGBaseline()
    private var matrices = VAIQMatrixBufferJPEGBaseline()
    private var tables = VAHuffmanTableBufferJPEGBaseline()
    private var slice = VASliceParameterBufferJPEGBaseline()

    /// Calls the driver, so use it inside a connection's `call`.
    /// - Parameter room: the size of the surfaces.
    /// - Returns: nil if the driver does not decode JPEG.
    init?(on connection: VADisplayConnection, room: PictureSize) {
        self.connection = connection
        takes422 = connection.driver.hasPrefix("Intel iHD driver")
        guard connection.entryPoints(of: VAProfileJPEGBaseline).contains(VAEntrypointVLD) else { return nil }
        var config = VAConfigID()
        guard
            vaCreateConfig(
                connection.display, VAProfileJPEGBaseline, VAEntrypointVLD, nil, 0, &config)
                == VA_STATUS_SUCCESS
        else { return nil }
        var context = VAContextID()
        guard
            vaCreateContext(
                connection.display, config, Int32(room.width), Int32(room.height), VA_PROGRESSIVE, nil, 0,
                &context) == VA_STATUS_SUCCESS
        else {
            vaDestroyConfig(connection.display, config)
            return nil
        }
        (self.config, self.context) = (config, context)
    }

    deinit {
        let (display, config, context) = (connection.display, config, context)
        _ = try? connection.call {
            vaDestroyContext(display, context)
            vaDestroyConfig(display, config)
        }
    }

    /// Submits a picture to the GPU. The driver orders the decoding before later uses of the surface.
    func decode(
        _ jpeg: BaselineJPEG, in bytes: UnsafeRawBufferPointer, into surface: VASurfaceID
    ) -> VAStatus {
        fill(from: jpeg)
        let display = connection.display
        var buffers = InlineArray<5, VABufferID>(repeating: VABufferID(CVAAPI_INVALID_ID))
        var count = 0
        defer { for index in 0..<count { vaDestroyBuffer(display, buffers[index]) } }
        /// Copies a buffer into the driver's memory.
        func add(_ kind: VABufferType, _ content: UnsafeRawBufferPointer) -> VAStatus {
            let status = vaCreateBuffer(
                display, context, kind, UInt32(content.count), 1,
                UnsafeMutableRawPointer(mutating: content.baseAddress), &buffers[count])
            if status == VA_STATUS_SUCCESS { count += 1 }
            return status
        }
        var status = withUnsafeBytes(of: picture) { add(VAPictureParameterBufferType, $0) }
        if status == VA_STATUS_SUCCESS {
            status = withUnsafeBytes(of: matrices) { add(VAIQMatrixBufferType, $0) }
        }
        if status == VA_STATUS_SUCCESS {
            status = withUnsafeBytes(of: tables) { add(VAHuffmanTableBufferType, $0) }
        }
        if status == VA_STATUS_SUCCESS {
            status = withUnsafeBytes(of: slice) { add(VASliceParameterBufferType, $0) }
        }
        if status == VA_STATUS_SUCCESS {
            status = add(VASliceDataBufferType, UnsafeRawBufferPointer(rebasing: bytes[jpeg.scan]))
        }
        guard status == VA_STATUS_SUCCESS else { return status }
        status = vaBeginPicture(display, context, surface)
        guard status == VA_STATUS_SUCCESS else { return status }
        status = buffers.span.withUnsafeBufferPointer {
            vaRenderPicture(display, context, UnsafeMutablePointer(mutating: $0.baseAddress), Int32(count))
        }
        // Each vaBeginPicture needs a vaEndPicture.
        let end = vaEndPicture(display, context)
        return status == VA_STATUS_SUCCESS ? end : status
    }

    // MARK: Parameters

    private func fill(from jpeg: BaselineJPEG) {
        picture.picture_width = UInt16(jpeg.width)
        picture.picture_height = UInt16(jpeg.height)
        picture.num_components = 3
        slice.slice_data_size = UInt32(jpeg.scan.count)
        slice.num_components = 3
        slice.restart_interval = UInt16(jpeg.restartInterval)
        slice.num_mcus = UInt32(jpeg.unitCount)
        withUnsafeMutableBytes(of: &picture) { bytes in
            for index in 0..<3 {
                let (component, place) = (jpeg.components[index], Int(CVAAPI_JPEG_COMPONENTS) + 4 * index)
                bytes[place] = component.identifier
                bytes[place + 1] = component.horizontalFactor
                bytes[place + 2] = component.verticalFactor
                bytes[place + 3] = component.quantization
            }
        }
        withUnsafeMutableBytes(of: &slice) { bytes in
            for index in 0..<3 {
                let (component, place) = (
                    jpeg.components[index], Int(CVAAPI_JPEG_SCAN_COMPONENTS) + 3 * index
                )
                bytes[place] = component.identifier
                bytes[place + 1] = component.dcTable
                bytes[place + 2] = component.acTable
            }
        }
        fillMatrices(from: jpeg)
        fillTables(from: jpeg)
    }

    private func fillMatrices(from jpeg: BaselineJPEG) {
        withUnsafeMutableBytes(of: &matrices.load_quantiser_table) { flags in
            for index in 0..<4 { flags[index] = jpeg.hasQuantization(index) ? 1 : 0 }
        }
        withUnsafeMutableBytes(of: &matrices.quantiser_table) { values in
            for index in 0..<4 {
                for place in 0..<64 { values[64 * index + place] = jpeg.quantization[index][place] }
            }
        }
    }

    private func fillTables(from jpeg: BaselineJPEG) {
        tables.load_huffman_table = (1, 1)
        withUnsafeMutableBytes(of: &tables) { bytes in
            for number in 0..<2 {
                let (dc, ac) = (jpeg.huffman.dc[number], jpeg.huffman.ac[number])
                let start = Int(CVAAPI_JPEG_TABLES) + number * Int(CVAAPI_JPEG_TABLE_SIZE)
                let (dcValues, acCounts, acValues) = (
                    start + Int(CVAAPI_JPEG_DC_VALUES), start + Int(CVAAPI_JPEG_AC_COUNTS),
                    start + Int(CVAAPI_JPEG_AC_VALUES)
                )
                for index in 0..<16 {
                    bytes[start + index] = dc.counts[index]
                    bytes[acCounts + index] = ac.counts[index]
                }
                for index in 0..<12 { bytes[dcValues + index] = dc.values[index] }
                for index in 0..<162 { bytes[acValues + index] = ac.values[index] }
            }
        }
    }
}
