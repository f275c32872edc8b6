/// Why a pool could not be created.
package enum PixelBufferPoolError: Error, Equatable {
    /// No file descriptor was left for the mailbox.
    case noDescriptor(errno: Int32)
    /// There is not enough memory for pictures of this many bytes.
    case noMemory(pictureLength: Int)
}
