import CFFmpeg

extension Array where Element == UInt8 {
    /// In base 64 (RFC 4648, 4).
    package var base64: String {
        var text = [CChar](repeating: 0, count: (count + 2) / 3 * 4 + 1)
        av_base64_encode(&text, Int32(clamping: text.count), self, Int32(clamping: count))
        return String(decoding: text.dropLast().map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
    }
}
