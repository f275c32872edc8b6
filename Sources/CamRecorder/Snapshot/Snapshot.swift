import CamConversion
import CamPictures
import CamPlatform
import Capture
import Encoder
import Containers

/// One picture as a file.
package struct Snapshot: Sendable {
    /// The file's content.
    package let bytes: [UInt8]
    /// When the picture was captured.
    package let time: WallTime
    /// Whether the coded samples are the camera's own.
    package let isCamerasOwn: Bool

    /// How to write a picture to a file.
    package struct Form: Sendable, Hashable {
        /// The file's format.
        package var format: Format
        /// The JPEG's quality, 1 to 100; nil for a camera's own JPEG if it has one, else `usualQuality`.
        package var quality: Int?
        /// Whether times in the file are UTC instead of local time.
        package var isUTC: Bool
        /// The parts to hide; nil for none.
        package var privacy: PrivacyMask?
        /// The program, for the metadata.
        package var program: String

        /// A form.
        package init(
            _ format: Format, quality: Int? = nil, isUTC: Bool = false, hiding privacy: PrivacyMask? = nil,
            program: String
        ) {
            (self.format, self.quality, self.isUTC, self.program) = (format, quality, isUTC, program)
            self.privacy = privacy
        }
    }

    /// A file's format.
    package enum Format: String, Sendable, Hashable, CaseIterable {
        case jpeg, png

        /// The format for a file name ending in `.jpg`, `.jpeg` or `.png`; nil for any other name.
        package init?(path: String) {
            let name = path.lowercased()
            if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") {
                self = .jpeg
            } else if name.hasSuffix(".png") {
                self = .png
            } else {
                return nil
            }
        }
    }

    /// The quality of JPEGs that are encoded here.
    package static let usualQuality = 90
}

// MARK: Making the file

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
        converter = try StillConverter(format, hiding: form.privacy)
    }

    /// The format of the pictures.
    var format: PictureFormat { converter.format }

    /// Takes a picture, and checks whether it is intact.
    /// - Returns: its mean brightness, 0 to 255.
    func take(_ picture: borrowing PixelBuffer) throws(ConversionError) -> Double {
        try converter.convert(picture)
        return converter.meanLuma
    }

    /// Returns the file of the latest picture.
    /// - Parameter picture: the latest picture, which `take` has taken.
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

    /// The camera's bytes as a standard file; nil for other formats, for bytes that are not a standard file, such
    /// as with padding between segments, and where something is hidden: the camera's bytes have a thumbnail, too.
    private func camerasOwn(_ picture: borrowing PixelBuffer, _ metadata: ExifMetadata) -> [UInt8]? {
        guard form.format == .jpeg, form.quality == nil, form.privacy == nil,
            format.pixelFormat.arrangement == .jpeg
        else {
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

/// Why there is no snapshot. `description` is one line: subject, cause, next step.
package enum SnapshotError: Error, Sendable, Equatable, CustomStringConvertible {
    case capture(CaptureError)
    /// The source's pictures cannot be converted.
    case conversion(ConversionError, device: String)
    /// Too many pictures in a row were damaged.
    case allDamaged(count: Int, last: ConversionError, device: String)
    /// The source ended before its first usable picture.
    case noPicture(device: String)
    case image(ImageError)
    /// A mask's file cannot be used.
    case input(InputError)
    case output(OutputError)

    package var description: String {
        switch self {
        case .capture(let error): error.description
        case .conversion(let error, let device): "\(device): \(error)"
        case .allDamaged(let count, let last, let device):
            "\(device): \(count) pictures in a row could not be used (\(last)); try another --format"
        case .noPicture(let device): "\(device): it ended without a picture; check the file"
        case .image(let error): error.description
        case .input(let error): error.description
        case .output(let error): error.description
        }
    }
}
