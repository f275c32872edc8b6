import CamPictures

extension PixelBufferPool {
    /// Creates a pool of ordinary memory, for a source that is not a device.
    package static func forSource(count: Int, length: Int) throws(CaptureError) -> PixelBufferPool {
        do throws(PixelBufferPoolError) {
            return try .allocated(count: count, length: length)
        } catch { throw CaptureError(error) }
    }
}

extension CaptureError {
    /// The pool could not be created.
    init(_ error: PixelBufferPoolError) {
        let kind: Kind =
            switch error {
            case .noDescriptor(let errno): .systemCallFailed("eventfd", errno: errno)
            case .noMemory(let length):
                .unsupported("not enough memory for pictures of \(length) bytes; use a smaller --size")
            }
        self.init(kind, device: "the buffer pool")
    }
}
