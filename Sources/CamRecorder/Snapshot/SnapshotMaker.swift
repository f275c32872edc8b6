import Capture
import Encoder
import CamConversion
import CamPictures
import CamPlatform

/// Makes files of single pictures of one source.
///
/// Belongs to one thread.
struct SnapshotMaker {
    private let form: Snapshot.Form
    private let camera: String
    private let converter: StillConverter

    /// - Parameter camera: its name, for the metadata.
    init(_ format: PictureFormat, _ form: Snapshot.Form, camera: String) throws(ConversionError) {
        (self.form, self.camera) = (form, camera)
        converter = try StillConverter(format)
    }

    /// The format of the pictures.
    var format: PictureFormat { converter.format }

    /// Takes a picture, and finds out whether it is whole.
    /// - Returns: its mean brightness, 0 to 255.
    func take(_ picture: borrowing PixelBuffer) throws(ConversionError) -> Double {
        try converter.convert(picture)
        return converter.meanLuma
    }

    /// Returns the file of the picture that was taken last.
    /// - Parameter picture: that picture.
    func make(
        of picture: borrowing PixelBuffer, time: WallTime, exposure: Exposure?
    ) throws(ImageError) -> Snapshot {
        let metadata = ExifMetadata(
            time: time, isUTC: form.isUTC, camera: camera, program: form.program, size: format.size,
            exposure: exposure)
        if let bytes = camerasOwn(picture, metadata) {
            return Snapshot(bytes: bytes, time: time, isCamerasOwn: true)
        }
        let bytes =
            switch form.format {
            case .jpeg: try encode(metadata)
            case .png: try encodeLossless(metadata)
            }
        return Snapshot(bytes: bytes, time: time, isCamerasOwn: false)
    }

    /// The camera's bytes as a standard file; nil for other formats, and for bytes that only decoders understand, such as
    /// with padding between segments.
    private func camerasOwn(_ picture: borrowing PixelBuffer, _ metadata: ExifMetadata) -> [UInt8]? {
        guard form.format == .jpeg, form.quality == nil, format.pixelFormat.arrangement == .jpeg else {
            return nil
        }
        return try? JPEGFile.standard(picture.payload, size: format.size, metadata: metadata)
    }

    private func encode(_ metadata: ExifMetadata) throws(ImageError) -> [UInt8] {
        let file: [UInt8]
        do throws(ConversionError) {
            file = try converter.jpeg(quality: form.quality ?? Snapshot.usualQuality)
        } catch { throw .outOfMemory }
        return try file.span.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try JPEGFile.standard(bytes, size: format.size, metadata: metadata)
        }
    }

    private func encodeLossless(_ metadata: ExifMetadata) throws(ImageError) -> [UInt8] {
        let file = try converter.withRGB { (rgb) throws(ImageError) in
            try PNGImage.encode(
                rgb: rgb, width: format.size.width, height: format.size.height, metadata: metadata)
        }
        guard let file else { throw .outOfMemory }
        return file
    }
}
