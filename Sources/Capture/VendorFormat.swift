import CYUV
import Glibc
import CamPictures

/// Formats that only libv4lconvert may know.
enum VendorFormat {
    /// Whether libv4lconvert can convert this format. The library has no list of formats, so it is given an
    /// empty picture: it rejects that with a different error than an unknown format.
    static func isReadable(_ format: PixelFormat) -> Bool {
        guard let converter = cyuv_vendor_create() else { return false }
        defer { cyuv_vendor_destroy(converter) }
        let (width, height) = (64, 64)
        var input = [UInt8](repeating: 0, count: 4 * width * height + 65536)
        var picture = [UInt8](repeating: 0, count: width * height * 3 / 2)
        return cyuv_vendor_convert(
            converter, format.rawValue, Int32(width), Int32(height), &input, 0, &picture) != -EINVAL
    }
}

extension PixelFormat {
    /// Whether camrec, or a library it uses, can convert it.
    public var isReadable: Bool { arrangement != .vendor || VendorFormat.isReadable(self) }
}
