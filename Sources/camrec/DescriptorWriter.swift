import Glibc

/// Writes text whole.
enum DescriptorWriter {
    /// - Returns: errno where it failed.
    static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return nil
        }
    }
}
